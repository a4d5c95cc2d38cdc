package demo

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// Summary is what a demo reports, as JSON under "v":1.
type Summary struct {
	V              int       `json:"v"`
	Members        int       `json:"members"`
	Seconds        float64   `json:"seconds"`
	Hops           int       `json:"hops"`
	Operations     int       `json:"operations"`
	OverlapSeconds float64   `json:"overlap_seconds"`
	MaxConcurrent  int       `json:"max_concurrent"`
	Tokens         Tokens    `json:"tokens"`
	Handoffs       Handoffs  `json:"handoffs"`
	Duplicates     int       `json:"duplicates"` // custody of one token by two members at once
	HandoffSeconds Quantiles `json:"handoff_seconds"`
	ReturnSeconds  Quantiles `json:"return_seconds"`
	Crashes        int       `json:"crashes"`
	Journals       string    `json:"journals"`
}

// Tokens counts tokens over the run.
type Tokens struct {
	Generated int `json:"generated"`
	Dropped   int `json:"dropped"`
	Lost      int `json:"lost"` // neither dropped nor, at the end, with anybody
}

// Handoffs counts handoffs over the run. All but OK are the members' own
// counters, which a kill loses as far as they were not asked for before.
type Handoffs struct {
	OK              uint64 `json:"ok"`
	Retried         uint64 `json:"retried"`
	Reselected      uint64 `json:"reselected"`
	InDoubtResolved uint64 `json:"in_doubt_resolved"`
}

// Quantiles of a time, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// span is a time during which something held, in µs since 1970.
type span struct {
	from, to uint64
	who      int // which member
	hop      uint64
}

// forever is the end of what has not ended.
const forever = ^uint64(0)

// books are what all journals say together.
type books struct {
	group     ident.Group
	custody   map[ident.Token][]span
	operating []span
	sentAt    map[hopKey]uint64
	handoffs  []float64 // seconds
	returns   []float64
	sum       Summary
}

type hopKey struct {
	token ident.Token
	hop   uint64
}

func tally(o Options, members []*process) (Summary, error) {
	b := &books{custody: make(map[ident.Token][]span), sentAt: make(map[hopKey]uint64)}
	b.sum = Summary{V: 1, Members: o.Members}
	for i, p := range members {
		if err := b.read(i, filepath.Join(p.stateDir(), "journal")); err != nil {
			return b.sum, err
		}
		_, counters, crashes := p.seen()
		b.sum.Crashes += crashes
		b.sum.Handoffs.Retried += counters.Handoffs.Retried
		b.sum.Handoffs.Reselected += counters.Handoffs.Reselected
		b.sum.Handoffs.InDoubtResolved += counters.Handoffs.InDoubtResolved
	}
	b.close()
	return b.sum, nil
}

// page is one member's journal while it is read.
type page struct {
	b       *books
	who     int
	open    map[hopKey]int // index in custody
	started map[ident.Grant]*journal.Started
	begun   map[ident.Grant]uint64
	pending map[hopKey]journal.Sent
	lastOp  uint64
}

// read reads one journal.
func (b *books) read(who int, dir string) error {
	p := &page{
		b: b, who: who, open: make(map[hopKey]int),
		started: make(map[ident.Grant]*journal.Started), begun: make(map[ident.Grant]uint64),
	}
	for f, err := range store.Frames(nil, dir) {
		var torn *journal.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return err
		}
		b.group = f.Segment.Group
		if f.Carried || len(f.Body) == 0 {
			continue
		}
		at, r, err := journal.Decode(f.Body)
		if err != nil {
			return err
		}
		if err := p.record(at, r); err != nil {
			return err
		}
	}
	return nil
}

func (p *page) record(at uint64, r journal.Record) error {
	switch r := r.(type) {
	case *journal.Incarnation:
		p.forget(at)
	case *journal.Generated:
		_, h, err := token.PeekGenesis(p.b.group, r.Genesis)
		if err != nil {
			return err
		}
		p.b.sum.Tokens.Generated++
		p.gain(at, hopKey{ident.Token(h), 0})
	case *journal.Held:
		t, _, err := token.PeekTransfer(p.b.group, r.Transfer)
		if err != nil {
			return err
		}
		p.b.sum.Hops++
		p.gain(at, hopKey{t.Token, t.Hop})
	case *journal.Sent:
		t, _, err := token.PeekTransfer(p.b.group, r.Transfer)
		if err != nil {
			return err
		}
		p.b.sentAt[hopKey{t.Token, t.Hop}] = at
		p.lose(at, hopKey{t.Token, t.Hop - 1})
	case *journal.Closed:
		if len(r.Receipt) > 0 {
			p.b.sum.Handoffs.OK++
		}
	case *journal.Reclaimed:
		p.gain(at, hopKey{r.Token, r.Hop})
	case *journal.Dropped:
		p.b.sum.Tokens.Dropped++
		p.lose(at, hopKey{r.Token, r.Hop})
		delete(p.b.sentAt, hopKey{r.Token, r.Hop + 1})
	case *journal.Started:
		p.started[r.Grant], p.begun[r.Grant] = r, at
	case *journal.Ended:
		p.operated(at, r)
	}
	return nil
}

func (p *page) gain(at uint64, k hopKey) {
	list := p.b.custody[k.token]
	p.open[k] = len(list)
	p.b.custody[k.token] = append(list, span{from: at, to: forever, who: p.who, hop: k.hop})
	if sent, ok := p.b.sentAt[k]; ok && at >= sent {
		p.b.handoffs = append(p.b.handoffs, float64(at-sent)/1e6)
	}
}

func (p *page) lose(at uint64, k hopKey) {
	if i, ok := p.open[k]; ok {
		p.b.custody[k.token][i].to = at
		delete(p.open, k)
	}
}

// forget ends every custody of an incarnation that is over: a volatile member
// has crashed.
func (p *page) forget(at uint64) {
	for k, i := range p.open {
		p.b.custody[k.token][i].to = at
		delete(p.open, k)
	}
}

func (p *page) operated(at uint64, r *journal.Ended) {
	begun, ok := p.begun[r.Grant]
	if !ok || !r.Operated {
		return
	}
	p.b.sum.Operations++
	p.b.operating = append(p.b.operating, span{from: begun, to: at, who: p.who})
	if p.lastOp != 0 {
		p.b.returns = append(p.b.returns, float64(begun-p.lastOp)/1e6)
	}
	p.lastOp = begun
}

// close counts what only all journals together tell.
func (b *books) close() {
	for _, spans := range b.custody {
		b.sum.Duplicates += duplicates(spans)
	}
	b.sum.Tokens.Lost = b.lost()
	b.sum.OverlapSeconds, b.sum.MaxConcurrent = overlap(b.operating)
	b.sum.HandoffSeconds = quantiles(b.handoffs)
	b.sum.ReturnSeconds = quantiles(b.returns)
}

// duplicates counts the custodies of one token that begin while another one
// lasts, or that have the hop of another member's.
func duplicates(spans []span) int {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	n := 0
	var until uint64
	hops := make(map[uint64]int)
	for i, s := range spans {
		who, again := hops[s.hop]
		if (i > 0 && s.from < until) || (again && who != s.who) {
			n++
		}
		hops[s.hop] = s.who
		until = max(until, s.to)
	}
	return n
}

// lost counts the tokens that nobody holds and nobody is sending.
func (b *books) lost() int {
	n := 0
	for t, spans := range b.custody {
		last := slices.MaxFunc(spans, func(x, y span) int { return cmp.Compare(x.hop, y.hop) })
		_, sending := b.sentAt[hopKey{t, last.hop + 1}]
		if last.to != forever && !sending {
			n++
		}
	}
	return n - b.sum.Tokens.Dropped
}

// overlap is for how long more than one operation ran, and how many at most.
func overlap(spans []span) (seconds float64, most int) {
	type edge struct {
		at    uint64
		delta int
	}
	var edges []edge
	for _, s := range spans {
		edges = append(edges, edge{s.from, 1}, edge{s.to, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return cmp.Compare(a.delta, b.delta)
	})
	running, since := 0, uint64(0)
	for _, e := range edges {
		if running > 1 {
			seconds += float64(e.at-since) / 1e6
		}
		running += e.delta
		since = e.at
		most = max(most, running)
	}
	return seconds, most
}

func quantiles(values []float64) Quantiles {
	if len(values) == 0 {
		return Quantiles{}
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[int(q*float64(len(values)-1))] }
	return Quantiles{P50: at(0.5), P99: at(0.99)}
}
