package cluster

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Bug is a deliberate mistake of the driver, or of a member's memory. The
// tests of the observers plant them: each must be found.
type Bug uint8

// The bugs.
const (
	NoBug Bug = iota
	// SendFirst sends a step's messages before its records are synced.
	SendFirst
	// ForgetHeld never writes the record of custody that came by a transfer.
	ForgetHeld
	// SameIncarnation makes a volatile member begin with the incarnation, and
	// the random numbers, that it had before.
	SameIncarnation
	// ForgetSent never writes the record of custody that was given away.
	ForgetSent
	// LoseSync returns from a sync before anything is durable.
	LoseSync
	// ForgetFloors leaves the floors out of every checkpoint.
	ForgetFloors
	// NoReceipts and NoOffers lose every such message when the faults are over.
	NoReceipts
	NoOffers
	// HideShown takes from each HELLO what it shows to its receiver of itself.
	HideShown
)

var bugNames = [...]string{
	"none", "send-first", "forget-held", "same-incarnation", "forget-sent", "lose-sync", "forget-floors", "no-receipts", "no-offers", "hide-shown",
}

func (b Bug) String() string { return bugNames[b] }

// ParseBug reads what String writes.
func ParseBug(name string) (Bug, error) {
	if i := slices.Index(bugNames[:], name); i >= 0 {
		return Bug(i), nil
	}
	return 0, fmt.Errorf("%w: bug %q: %s", ErrSetting, name, strings.Join(bugNames[:], ", "))
}

// setting is everything about a run that is not a fault: who is there.
type setting struct {
	seed      uint64
	members   []memberSetting
	resources []group.Resource
	walks     []group.Resource // the same, all with the wandering token
	classes   []string         // of the members that enrol, in turn; none: nobody has one
	constants group.Settings   // of the group, but for its version and resources; zero: the defaults
	tuning    handoff.Tuning
	net       networkSetting
	// manual hands the network, the programs and the faults to a script.
	manual bool
	// syncTime is the longest that a sync takes.
	syncTime time.Duration
	// lean keeps what members know of the group out of the audit: long runs.
	lean bool
	// checkpointAfter is how many records a journal grows by before the next
	// checkpoint; zero: there is none.
	checkpointAfter int
	noPreOffer      bool
	recall          bool   // members of a script wait for greetings after a restart
	limits          Limits // of the faults
	bug             Bug
	unguarded       bool
}

// memberSetting is how one member is run.
type memberSetting struct {
	durable, found bool
	driving        driving
	skew           time.Duration // of its wall clock
	stranger       bool          // knows only whom it meets, not the whole group
	knowsOnce      bool          // is told of the whole group when it begins, and never again
	liar           bool          // its driver lies
	kind           string        // of badKinds; "": it is not bad
	dialsOut       bool          // nobody can dial it
}

// cluster is a group of members in virtual time. It is not safe for concurrent
// use.
type cluster struct {
	virtual
	setting
	dice
	group *group.Group
	nodes crowd // of the members that there are
	byID  map[ident.Member][]*node
	order uint64 // of records and crashes, over all members
	calm  bool   // the faults are over
	cuts  cuts   // that there are now

	hazards *hazards

	ca      *authority
	graves  []audit.Journal // of members that never return
	meter   *meter          // of a run with churn
	waiting *waits          // when the faults are over

	downMean time.Duration // how long a member stays away

	running    map[ident.Token]*program
	ran        usage
	mail       []*letter // manual mode: messages that wait for the script
	violations []Violation
	count      counts
	walk       walk
	tainted    map[ident.Token]bool // lied about
	forged     map[ident.Token]bool // made up by bad members
	fences     fences
	gates      gatehouses
	tracer     *tracer
	watch      func(Moment) // nil: nobody does
	// lasts says how long the next program runs, and reports at its end; nil: half as
	// long again as its grant at most, and now and then it does not report.
	lasts func(*node) time.Duration
}

// counts is what happened.
type counts struct {
	crashes, stops, restarts, checkpoints  int
	configurations                         int
	cuts                                   int // lines through the network
	untimely                               int // tokens refused for the time of their genesis
	joins, kills                           int // kills: permanent crashes
	leaves, revocations, renewals          int
	messages, lost, repeated, late, broken int
	grants, forks, convictions             int
	escapes                                int // forks after a rollback, of members that nobody had told
	sent, bytes                            map[wire.Type]int
	records                                map[journal.Kind]int
}

func newCluster(s setting, trace io.Writer) (*cluster, error) {
	a := newAuthority(s.seed)
	a.classes = s.classes
	g, err := a.found(s.resources, s.constants)
	if err != nil {
		return nil, err
	}
	c := &cluster{
		setting: s, dice: dice{rand.New(rand.NewPCG(s.seed, 0x77616e646572))}, group: g, ca: a,
		hazards: newHazards(s.seed, s.limits), walk: walk{since: make(map[*node]int), longest: make(map[*node]int)},
		running: make(map[ident.Token]*program), tainted: make(map[ident.Token]bool), forged: make(map[ident.Token]bool), fences: fences{slots: make(map[fencedSlot]*fenced)}, byID: make(map[ident.Member][]*node),
		count: counts{sent: make(map[wire.Type]int), bytes: make(map[wire.Type]int), records: make(map[journal.Kind]int)},
	}
	if trace != nil {
		c.tracer = newTracer(trace, g.ID())
	}
	c.gates = newGatehouses(c)
	for i, m := range s.members {
		c.add(a.founder(i), m)
	}
	return c, nil
}

// add makes a member that is not running yet.
func (c *cluster) add(who identity, m memberSetting) *node {
	if m.dialsOut {
		who.address = ""
		who.endpoint = endpointOf(c.group.ID(), who)
	}
	n := &node{
		c: c, identity: who, memberSetting: m, machine: machine{time: &c.virtual}, guard: newGuard(c.group.ID()),
		disk:  disk{faithful: m.durable, lean: c.lean, failure: healthy},
		place: who.name, fuse: noFuse, bornAt: c.now, group: c.ca.published,
	}
	if c.tracer != nil {
		c.tracer.members[who.id] = who.name
	}
	n.port.n = n
	if n.liar {
		n.lies = &liar{n: n}
	}
	n.boot()
	n.turnBad()
	c.nodes = append(c.nodes, n)
	c.byID[n.id] = append(c.byID[n.id], n)
	return n
}

// handoffs is how many transfers were taken.
func (c *cluster) handoffs() int { return c.count.records[journal.KindHeld] }

// tick is the next number of the order in which records and crashes happen.
func (c *cluster) tick() uint64 {
	c.order++
	return c.order
}

func (c *cluster) log(n *node, format string, args ...any) {
	if c.tracer != nil {
		c.tracer.line(c.now, n, format, args...)
	}
}

// maxAtOnce bounds what can happen at one instant of virtual time. Beyond it a
// member asks to be called again and again without getting on.
const maxAtOnce = 100_000

// runFor lets virtual time pass.
func (c *cluster) runFor(d time.Duration) {
	last, steps := c.now, 0
	for until := c.now + d; c.step(until); {
		if steps++; c.now != last {
			last, steps = c.now, 0
		}
		if steps > maxAtOnce {
			c.problem(Machinery, nil, "virtual time stands still")
			return
		}
	}
}

// journals is what an auditor reads.
func (c *cluster) journals() []audit.Journal {
	list := slices.Clone(c.graves)
	for _, n := range c.nodes {
		list = append(list, audit.Journal{Member: n.id, Entries: n.disk.history})
	}
	return list
}
