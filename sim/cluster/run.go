package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/wire"
)

// Result is what one run has shown.
type Result struct {
	Setting Setting
	Members int
	Virtual time.Duration // how long it took the members

	Faults                                 [faults]int // that happened, by kind
	due                                    [faults]int // that were due, whatever the limits said
	Stops, Restarts, Checkpoints           int
	Configurations                         int
	Messages, Lost, Repeated, Late, Broken int
	Handoffs, Grants, Tokens               int
	Together                               int                  // operations that began while another ran
	Escapes                                int                  // forks of members whose disk went back, and whom nobody had told
	Forks, Convictions                     int                  // of liars: transfers signed a second time; findings of the audit that convict somebody
	Sent                                   map[wire.Type]int    // messages by type
	Records                                map[journal.Kind]int // journal records by kind
	Fates                                  map[audit.Fate]int

	// Violations are the rules that were broken, in the order in which that was
	// seen.
	Violations []Violation
	// Findings are what the journals prove.
	Findings []audit.Finding

	// Programs that a guard of the fence refuses: see fences.go.
	RefusedLate, RefusedRightful, LockedOut int
}

// ErrBroken says that a rule was broken.
var ErrBroken = errors.New("the rules did not hold")

// Err is nil when every rule held, else it matches ErrBroken.
func (r *Result) Err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	var list []string
	for _, v := range r.Violations {
		list = append(list, v.String())
	}
	return fmt.Errorf("%s: %w:\n  %s", r.Setting.Args(), ErrBroken, strings.Join(list, "\n  "))
}

// injected is how many faults happened of those that count (fault.counts).
func (r *Result) injected() int {
	n := 0
	for kind, happened := range r.Faults {
		if fault(kind).counts() {
			n += happened
		}
	}
	return n
}

// quietStep is how often it is looked at whether everything has come to rest.
const quietStep = time.Second

// quietMost bounds the time, after the faults, in which everything must come
// to rest: until the last program has ended, then the longest pauses between
// two transmissions, over again for the token's next hop. A ring repeats a request
// that was lost after a round, and a token of the preset fair that nobody asks for
// goes on after a window, which is shorter.
func (s setting) quietMost() time.Duration {
	rounds := time.Duration(0)
	for _, r := range s.resources {
		rounds = max(rounds, ring.Round(r.OperationTime, r.SkipDelay, r.MembersMax))
	}
	return longestOperation + 3*s.tuning.RetransmitMax + time.Minute + rounds
}

// gossipsMost is after how many exchanges with random peers, the faults being
// over, everybody must know everybody. News spreads in about log2 of the members
// of them.
const gossipsMost = 40

// rest ends the faults and waits until every token has moved, every transfer is
// answered and all know the same.
func (c *cluster) rest() {
	c.log(nil, "the faults are over")
	c.calm, c.cuts = true, nil
	for _, n := range c.nodes {
		n.fuse, n.disk.slow, n.disk.failure = noFuse, 0, healthy
		c.wake(n)
		if n.member == nil {
			n.start(false)
			n.meetSomebody()
		}
	}
	from := c.stand()
	if c.wait(Liveness, c.quietMost(), func() []string { return from.unfinished(c.stand(), c.tainted) }) {
		if c.wait(Agreement, gossipsMost*c.group.Config().Settings().GossipInterval, c.nodes.unknown) {
			drivesRecovery(c)
		}
	}
}

// wait lets time pass until nothing is open any more, for so long at most. It
// reports whether no rule was broken.
func (c *cluster) wait(rule Rule, most time.Duration, open func() []string) bool {
	list := open()
	for until := c.now + most; c.now < until && len(list) > 0 && len(c.violations) == 0; list = open() {
		c.runFor(quietStep)
	}
	for _, text := range list {
		c.violate(rule, gist(text), text)
	}
	return len(c.violations) == 0
}

// unknown is what one member does not know of another, or of the group.
func (l crowd) unknown() []string {
	var list []string
	newest := uint64(0) // of the group configurations that are in force anywhere
	for _, n := range l {
		if n.member != nil {
			newest = max(newest, n.member.Settings().Version)
		}
	}
	for _, n := range l {
		if n.member == nil {
			list = append(list, fmt.Sprintf("member %s is down", n.name))
			continue
		}
		if had := n.member.Settings().Version; had < newest {
			list = append(list, fmt.Sprintf("member %s has group configuration %d instead of %d", n.name, had, newest))
		}
		for _, o := range l {
			if o == n || o.member == nil {
				continue
			}
			said, _ := o.member.Endpoint(o.id)
			if raw, known := n.member.Endpoint(o.id); !known || !bytes.Equal(raw, said) {
				list = append(list, fmt.Sprintf("member %s does not know member %s", n.name, o.name))
			}
		}
	}
	return list
}

// standing is where the tokens are, by the durable records.
type standing struct {
	hops map[ident.Token]uint64
	sent map[ident.Hash]passage
}

// stand syncs every journal and reads all of them.
func (c *cluster) stand() standing {
	s := standing{hops: make(map[ident.Token]uint64), sent: make(map[ident.Hash]passage)}
	for _, n := range c.nodes {
		if n.member != nil && !n.syncing {
			n.synced()
		}
		for h := range n.guard.oracle.held {
			s.hops[h.token] = max(s.hops[h.token], h.number)
		}
		for hash, p := range n.guard.oracle.sent {
			if c.nodes.canAnswer(p.to) {
				s.sent[hash] = p
				s.hops[p.hop.token] = max(s.hops[p.hop.token], p.hop.number)
			}
		}
	}
	return s
}

// unfinished is what has not happened until now, but for tokens that were lied about.
func (s standing) unfinished(now standing, tainted map[ident.Token]bool) []string {
	var list []string
	for hash, p := range s.sent {
		if _, open := now.sent[hash]; open && !tainted[p.hop.token] {
			list = append(list, fmt.Sprintf("transfer from hop %d of token %s is not answered", p.hop.number, p.hop.token.Short()))
		}
	}
	for t, hop := range s.hops {
		if at, there := now.hops[t]; there && at <= hop && !tainted[t] {
			list = append(list, fmt.Sprintf("token %s has not moved from hop %d", t.Short(), hop))
		}
	}
	return list
}

func (x *schedule) result(s Setting) *Result {
	c := x.c
	report := audit.Check(c.group.ID(), c.journals(), audit.Options{})
	r := &Result{
		Setting: s, Members: len(c.nodes), Virtual: c.now,
		Stops: c.count.stops, Restarts: c.count.restarts, Checkpoints: c.count.checkpoints,
		Messages: c.count.messages, Lost: c.count.lost, Repeated: c.count.repeated, Late: c.count.late, Broken: c.count.broken,
		Configurations: c.count.configurations, Handoffs: report.Handoffs(), Grants: c.count.grants, Together: c.walk.together,
		Sent: maps.Clone(c.count.sent), Records: maps.Clone(c.count.records),
		Tokens: len(report.Tokens), Fates: make(map[audit.Fate]int), Findings: report.Findings,
	}
	for kind := range c.hazards.kinds {
		r.Faults[kind], r.due[kind] = c.hazards.kinds[kind].happened, c.hazards.kinds[kind].seen
	}
	for _, t := range report.Tokens {
		r.Fates[t.Fate]++
	}
	r.Escapes = c.count.escapes
	j := judges{c}
	if s.Preset != Rollback {
		j.journals(report)
		j.blame()
		j.account()
	}
	if s.Preset == Long {
		j.waits()
		j.overlaps(x.f)
	}
	r.RefusedLate, r.RefusedRightful, r.LockedOut = c.fences.refusedLate, c.fences.refusedRightful, c.fences.lockedOut
	r.Violations, r.Forks, r.Convictions = c.violations, c.count.forks, c.count.convictions
	return r
}
