package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Options of a run.
type Options struct {
	Mix   Mix
	Trace io.Writer // one line for everything that happens; nil: nothing
	// Bug is planted in the driver, to test the observers. Unguarded leaves
	// it to the audit to find it.
	Bug       Bug
	Unguarded bool
}

// Result is what one run has shown.
type Result struct {
	Seed    uint64
	Mix     Mix
	Members int
	Virtual time.Duration // how long it took the members

	Crashes, Stops, Restarts, Checkpoints  int
	Configurations, Cuts, Clocks           int // Clocks: how often one was set
	Messages, Lost, Repeated, Late, Broken int
	Handoffs, Grants, Tokens               int
	Sent                                   map[wire.Type]int    // messages by type
	Records                                map[journal.Kind]int // journal records by kind
	Fates                                  map[audit.Fate]int

	// Problems are what the guard and the driver saw, Stuck is what did not
	// come to an end after the faults, Findings are what the journals prove.
	Problems []string
	Stuck    []string
	Findings []audit.Finding
}

// ErrBroken says that a rule was broken.
var ErrBroken = errors.New("the rules did not hold")

// Err is nil when every rule held, else it matches ErrBroken.
func (r *Result) Err() error {
	var list []string
	list = append(list, r.Problems...)
	list = append(list, r.Stuck...)
	for _, f := range r.Findings {
		list = append(list, f.String())
	}
	for fate, n := range r.Fates {
		if fate.Lost() && r.Mix == Durable {
			list = append(list, fmt.Sprintf("%d tokens of durable members %v", n, fate))
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("seed %d (%v): %w:\n  %s", r.Seed, r.Mix, ErrBroken, strings.Join(list, "\n  "))
}

// quietStep is how often it is looked at whether everything has come to rest.
const quietStep = time.Second

// quietMost bounds the time, after the faults, in which everything must come
// to rest: until the last program has ended, then the longest pauses between
// two transmissions, over again for the token's next hop.
func (s setting) quietMost() time.Duration {
	return longestOperation + 3*s.tuning.RetransmitMax + time.Minute
}

// gossipsMost is after how many exchanges with random peers, the faults being
// over, everybody must know everybody. News spreads in about log2 of the members
// of them.
const gossipsMost = 40

// Run runs one seed: faults until there were enough, then quiet.
func Run(seed uint64, o Options) *Result {
	s, f := draw(seed, o.Mix)
	s.bug, s.unguarded = o.Bug, o.Unguarded
	c, err := newCluster(s, o.Trace)
	must(err)
	c.begin(f)
	for c.now < f.most && len(c.problems) == 0 && (c.count.crashes < f.crashes || c.handoffs() < f.handoffs) {
		c.runFor(quietStep)
	}
	var stuck []string
	if len(c.problems) == 0 {
		stuck = c.rest()
	}
	return c.result(o.Mix, stuck)
}

// rest ends the faults and waits until every token has moved and every
// transfer is answered. It returns what has not.
func (c *cluster) rest() []string {
	c.log(nil, "the faults are over")
	c.calm, c.cuts = true, nil
	for _, n := range c.nodes {
		n.fuse = noFuse
		if n.member == nil {
			n.start(false)
			n.meetSomebody()
		}
	}
	from := c.stand()
	var open []string
	for until := c.now + c.quietMost(); c.now < until && len(c.problems) == 0; {
		c.runFor(quietStep)
		if open = c.unfinished(from); len(open) == 0 {
			break
		}
	}
	if len(open) > 0 || len(c.problems) > 0 {
		return open
	}
	return c.agree()
}

// agree lets the members gossip until all of them know the same of the group. It
// returns what some of them do not know even then.
func (c *cluster) agree() []string {
	missing := c.unknown()
	for until := c.now + gossipsMost*c.group.Config().Settings().GossipInterval; c.now < until; missing = c.unknown() {
		if len(missing) == 0 || len(c.problems) > 0 {
			break
		}
		c.runFor(quietStep)
	}
	return missing
}

// unknown is what one member does not know of another.
func (c *cluster) unknown() []string {
	var list []string
	for _, n := range c.nodes {
		if n.member == nil {
			list = append(list, fmt.Sprintf("member %s is down", n.name))
			continue
		}
		for _, o := range c.nodes {
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
		for h := range n.guard.ledger.held {
			s.hops[h.token] = max(s.hops[h.token], h.number)
		}
		for hash, p := range n.guard.ledger.sent {
			if c.canAnswer(p.to) {
				s.sent[hash] = p
				s.hops[p.hop.token] = max(s.hops[p.hop.token], p.hop.number)
			}
		}
	}
	return s
}

// canAnswer reports whether the custody memory that a transfer names lives.
func (c *cluster) canAnswer(to party) bool {
	for _, n := range c.nodes {
		if n.id == to.member && n.guard.ledger.incarnation == to.incarnation {
			return true
		}
	}
	return false
}

// unfinished is what has not happened since.
func (c *cluster) unfinished(from standing) []string {
	var list []string
	now := c.stand()
	for hash, p := range from.sent {
		if _, open := now.sent[hash]; open {
			list = append(list, fmt.Sprintf("transfer from hop %d of token %s is not answered", p.hop.number, p.hop.token.Short()))
		}
	}
	for t, hop := range from.hops {
		if at, there := now.hops[t]; there && at <= hop {
			list = append(list, fmt.Sprintf("token %s has not moved from hop %d", t.Short(), hop))
		}
	}
	return list
}

func (c *cluster) result(mix Mix, stuck []string) *Result {
	report := audit.Check(c.group.ID(), c.journals(), audit.Options{})
	r := &Result{
		Seed: c.seed, Mix: mix, Members: len(c.nodes), Virtual: c.now,
		Crashes: c.count.crashes, Stops: c.count.stops, Restarts: c.count.restarts, Checkpoints: c.count.checkpoints,
		Messages: c.count.messages, Lost: c.count.lost, Repeated: c.count.repeated, Late: c.count.late, Broken: c.count.broken,
		Configurations: c.count.configurations, Cuts: c.count.cuts, Clocks: c.count.clocks,
		Handoffs: report.Handoffs(), Grants: c.count.grants,
		Sent: maps.Clone(c.count.sent), Records: maps.Clone(c.count.records),
		Tokens: len(report.Tokens), Fates: make(map[audit.Fate]int),
		Problems: c.problems, Stuck: stuck, Findings: report.Findings,
	}
	for _, t := range report.Tokens {
		r.Fates[t.Fate]++
	}
	if c.count.untimely > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d tokens refused for the time of their genesis", c.count.untimely))
	}
	if n := r.Records[journal.KindEvidence]; n > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d accusations among honest members", n))
	}
	return r
}
