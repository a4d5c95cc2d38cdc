package main

import "time"

// kase is one way to lose a member.
type kase struct {
	name string
	says string // what happens, for people

	takes   time.Duration // how long the holder's program takes; 0: it has ended, and the token rests
	before  bool          // others want before it happens, and not only from then on
	delayed bool          // packets take a while, so that it happens within a handoff
	revokes bool          // a member is gone for good each time
	goal    goal
	presets []string // which it can be arranged under; none: all
}

// goal is how soon another member is to run.
type goal uint8

const (
	none    goal = iota
	alive        // in a second: the machine answers for its process
	silent       // in the silence and 1.5 s
	granted      // when the grant of the lost program ends, and a second
	unknown      // in max_hold, a question's pause and a second: nobody that lives knows whether a program runs
)

// grace is by how much more than the silence a member that is gone is noticed.
const grace = 1500 * time.Millisecond

const (
	long  = 5 * time.Second // a program that is to run beyond the loss
	short = 300 * time.Millisecond
)

var cases = []kase{
	{name: "nothing", says: "nothing fails: what a handoff and the start of a program take", goal: alive},
	{name: "rests", says: "kill -9 of a holder whose token rests", goal: alive},
	{name: "ended", says: "kill -9 of a holder just after its program has ended", goal: alive},
	{name: "rolling", says: "as rests, after each other member but one was restarted", goal: alive},
	{name: "both", says: "as rests, and another member, drawn at random, is killed as well", goal: unknown},
	{name: "power", says: "the holder's machine loses power while its token rests", goal: silent},
	{name: "cut", says: "the holder's machine is cut off while its token rests", goal: silent},
	{name: "runs", says: "kill -9 of a holder whose program runs", takes: long, before: true, goal: granted},
	{name: "runs-cut", says: "the holder's machine is cut off while its program runs", takes: long, before: true, goal: granted},
	{name: "offers", says: "kill -9 of a holder that is about to pass the token on", takes: long / 2, before: true, delayed: true, goal: granted},
	{name: "passes", says: "kill -9 of a holder that has signed the transfer", takes: long / 2, before: true, delayed: true, goal: unknown},
	{name: "receives", says: "kill -9 of the receiver of a token that is on its way", takes: long / 2, before: true, delayed: true, goal: unknown, presets: []string{"fair"}},
	{name: "revoked", says: "the holder is revoked when it has signed the transfer", takes: long / 2, before: true, delayed: true, revokes: true, goal: unknown},
	{name: "doubt", says: "as receives, and the receiver, which the sender waits for, is revoked", takes: long / 2, before: true, delayed: true, revokes: true, goal: unknown, presets: []string{"fair"}},
	{name: "full", says: "the receiver's disk is full when the token arrives", takes: long / 2, before: true, delayed: true, goal: unknown, presets: []string{"fair"}},
}

func namesOf(list []kase) (names []string) {
	for _, k := range list {
		names = append(names, k.name)
	}
	return names
}
