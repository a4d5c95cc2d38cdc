package cluster

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// busyPolicy is a policy of a busy group.
type busyPolicy struct{ policy, preset string }

var (
	fairTurns  = busyPolicy{catalog.Wandering, wandering.Fair}
	lightTurns = busyPolicy{catalog.Wandering, wandering.Light}
	ringTurns  = busyPolicy{catalog.Ring, ring.E.String()}
)

func (p busyPolicy) String() string {
	if p.policy == catalog.Ring {
		return p.policy
	}
	return p.preset
}

// busyTimes are the settings of a busy group, and how long its programs run.
type busyTimes struct {
	name              string
	operation, hold   time.Duration
	interval, skip    time.Duration
	gossip            time.Duration
	shortest, longest time.Duration // programs take from one to the other
	short             time.Duration // that a group works in the short form of a test
	notice            time.Duration // until machines have refused what is sent to a dead member; 0: they say nothing
	delay             time.Duration // of messages; 0: 10 ms
	jitter            time.Duration // mean of what is added to that; 0: 1 ms
	onSilent          policy.SilentHolder
}

// turn is a program that started.
type turn struct {
	member ident.Member
	at     time.Duration
}

// busy is a group whose living members ask for the resource, some of them again as
// soon as their programs have ended. It counts turns.
type busy struct {
	*cluster
	times  busyTimes
	again  map[*node]time.Duration        // asks again so long after its last program, on average
	since  map[ident.Member]time.Duration // waits for the resource
	waits  time.Duration                  // a member waits for so long on average, and then asks no more for a while; 0: until its turn
	turns  []turn
	counts map[ident.Member]bool // whose turns count; nil: all
	made   int                   // tokens
}

// newBusy starts so many members.
func newBusy(t *testing.T, seed uint64, members int, p busyPolicy, times busyTimes) *busy {
	t.Helper()
	return newBusyClocks(t, seed, members, p, times, 0)
}

// newBusyClocks starts so many members, whose clocks are wrong by these in turn.
func newBusyClocks(t *testing.T, seed uint64, members int, p busyPolicy, times busyTimes, skews ...time.Duration) *busy {
	t.Helper()
	return newBusyOf(t, busySetting(seed, members, p, times), members, times, skews...)
}

// newBusyOf starts such a group of a setting.
func newBusyOf(t *testing.T, in setting, members int, times busyTimes, skews ...time.Duration) *busy {
	t.Helper()
	b := newBusyGroup(t, in, times)
	for i := range members {
		b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped, skew: skews[i%len(skews)]})
	}
	b.start()
	return b
}

// busySetting is the setting of a group in which so many members are to be.
func busySetting(seed uint64, members int, p busyPolicy, times busyTimes) setting {
	params := policy.Params{
		Preset: p.preset, OnSilentHolder: times.onSilent, OperationTime: times.operation, MembersMax: max(members, 5), SkipDelay: times.skip,
	}
	switch p.policy {
	case catalog.Multitoken:
		params.TargetInterval = 4 * times.operation
	case catalog.Wandering:
		params.MinInterval = times.interval
	}
	return setting{
		seed: seed, tuning: handoff.DefaultTuning, lean: true, checkpointAfter: 2000,
		resources: []group.Resource{group.Resource{Name: "r", Policy: p.policy, MaxHold: times.hold, Params: params}.WithDefaults()},
		constants: group.Settings{GossipInterval: times.gossip, ClockAllowance: clockAllowance},
		net:       networkSetting{delay: cmp.Or(times.delay, 10*time.Millisecond), jitter: cmp.Or(times.jitter, time.Millisecond), notice: cmp.Or(times.notice, time.Second), refused: times.notice},
	}
}

// newBusyGroup is a group of a setting, with one resource, that has not started.
func newBusyGroup(t *testing.T, s setting, times busyTimes) *busy {
	t.Helper()
	c, err := newCluster(s, nil)
	require.NoError(t, err)
	b := &busy{cluster: c, times: times, again: make(map[*node]time.Duration), since: make(map[ident.Member]time.Duration)}
	c.lasts = func(*node) time.Duration { return times.shortest + c.random(times.longest-times.shortest) }
	c.watch = b.saw
	return b
}

// start starts all members.
func (b *busy) start() {
	b.gates.start()
	for _, n := range b.nodes {
		n.start(false)
		n.meetSomebody()
	}
}

// saw counts turns and tokens, and lets a member ask again when its program has ended.
func (b *busy) saw(m Moment) {
	switch {
	case m.Deed == Granted:
		if b.counts == nil || b.counts[m.Member] {
			b.turns = append(b.turns, turn{m.Member, b.now})
		}
		delete(b.since, m.Member)
		b.after(0, func() { b.ranOn(b.find(m.Member)) })
	case m.Deed == Wrote && m.Record.Kind() == journal.KindGenerated:
		b.made++
	}
}

// ranOn asks again when what runs at a member has ended.
func (b *busy) ranOn(n *node) {
	for _, p := range b.running {
		if p.node == n {
			left := p.ends - b.now
			if left < 0 {
				left = time.Second // its machine sleeps
			}
			b.after(left+time.Millisecond, func() { b.ranOn(n) })
			return
		}
	}
	b.asksAgain(n)
}

// asksAgain lets a member ask, if it does so again and again.
func (b *busy) asksAgain(n *node) {
	if pause, asks := b.again[n]; asks {
		b.after(b.exponential(pause), func() { b.ask(n) })
	}
}

// ask lets a member ask now.
func (b *busy) ask(n *node) {
	if _, asks := b.since[n.id]; asks || n.member == nil {
		return
	}
	b.since[n.id] = b.now
	n.requests++
	n.put(member.Demand{Request: n.requests, Resource: "r", MaxHold: b.times.hold, Across: n.across})
	if request := n.requests; b.waits > 0 {
		b.after(b.exponential(b.waits), func() { b.withdraw(n, request) })
	}
}

// withdraw ends the wait of a member for a request, unless that has been granted.
func (b *busy) withdraw(n *node, request uint64) {
	if _, asks := b.since[n.id]; asks && n.requests == request {
		delete(b.since, n.id)
		n.put(member.Withdraw{Request: request})
		b.asksAgain(n)
	}
}

// ceases has all members withdraw what they wait for, and ask for nothing any more.
func (b *busy) ceases() {
	clear(b.again)
	for _, n := range b.nodes {
		b.withdraw(n, n.requests)
	}
}

// want lets members ask from now on, again so long after each turn on average.
func (b *busy) want(list []*node, pause time.Duration) {
	for _, n := range list {
		b.again[n] = pause
		b.asksAgain(n)
	}
}

// crash ends a member for good, and what runs there.
func (b *busy) crash(n *node) {
	n.discard(true)
	n.end(silent)
	b.killPrograms(n)
	b.forgo(n)
}

// forgo ends a member's demand.
func (b *busy) forgo(n *node) {
	delete(b.again, n)
	delete(b.since, n.id)
}

// tidy forgets what nobody asks for any more, in long runs.
func (b *busy) tidy() {
	for _, n := range b.nodes {
		d := &n.disk
		d.history = append(d.history[:0:0], d.history[len(d.history)-d.pending:]...)
	}
	b.ran, b.turns = nil, b.turns[:min(len(b.turns), 1)]
}

func (b *busy) String() string {
	return fmt.Sprintf("%v: %d turns, %d tokens made, %d overlaps, %d messages", b.now, len(b.turns), b.made, b.walk.together, b.count.messages)
}
