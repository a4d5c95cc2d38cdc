// Package history keeps what a member has heard of its tokens in the last hour, for people: where they were,
// whose programs ran, and how long programs here waited. It is pure: instants come in as arguments, and what it keeps has bounds.
//
//	l := history.New(self)
//	l.Saw(history.Sighting{…})           // a token is with a member, as far as is known
//	l.Heard(place, observation, …)       // the same, as a policy has it, with the program that runs there
//	l.Began(…); l.Ended(…); l.Waited(…)  // programs of this member
//	news := l.Since(seq, now)            // what is new after seq: the page
//	sums := l.Summaries(now, slots)      // turns and waits by minutes: wander top
//
// # What is known
//
// Of this member all is exact. Of others it is what messages have said, and when: an operation of another member
// begins when this one first heard of it, and ends when the token was heard of further on, or at the latest when
// the holder's program is killed. So what two members show of a third one differs, and under a preset whose
// members do not tell each other of turns, the others have no operations here at all. A member that does not
// wait hears less than one that does.
//
// # How it gets there
//
//	policy stepped ─▶ node.historian ─▶ Saw       a hop of this member, as it happens
//	beat, or a look ─▶ Observations ──▶ Heard     what is known of tokens elsewhere, each second or two
//	grant, release ─▶ programs ───────▶ Began, Ended, Waited
//
// Each change has a number, so that a listener asks for what is new. An operation keeps its id when it ends.
//
// # What it costs
//
// Lists have room for a turn each quarter of a second for a quarter of an hour, all resources together, and
// forget the oldest. Sums by minutes cover the hour, for at most MaxMembers members of a resource. Nothing that a
// peer says makes it grow beyond that. Noting an event takes a lock and allocates nothing once the lists are
// full: about half a microsecond for a hop with a program (go test ./node/history -bench .).
//
// # What it does not do
//
// It decides nothing, and nothing of it outlives the daemon: what is to be proved is in the journal.
//
// A Log is safe for concurrent use.
package history
