package demo

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// Summary is what a demo reports, as JSON under "v":1.
type Summary struct {
	V              int        `json:"v"`
	Members        int        `json:"members"`
	Policy         string     `json:"policy"`
	Preset         string     `json:"preset"`
	Seconds        float64    `json:"seconds"` // of the run, without the stopping
	Hops           int        `json:"hops"`
	Operations     int        `json:"operations"`
	OverlapSeconds float64    `json:"overlap_seconds"`
	MaxConcurrent  int        `json:"max_concurrent"`
	Tokens         Tokens     `json:"tokens"`
	Handoffs       Handoffs   `json:"handoffs"`
	Duplicates     int        `json:"duplicates"` // custody of one token by two members at once
	HandoffSeconds *Quantiles `json:"handoff_seconds"`
	ReturnSeconds  *Quantiles `json:"return_seconds"`
	Crashes        int        `json:"crashes"`
	// Recovery is about the kills of members that held a token; nil without any.
	Recovery *Recovery `json:"recovery"`
	// Findings are all rules that the journals show broken, duplicates among
	// them.
	Findings []string `json:"findings"`
	Journals string   `json:"journals"`
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

// Recovery is what came after members were killed that held a token: for how long no
// operation began, at whomever.
type Recovery struct {
	Kills      int     `json:"kills"`       // of a holder
	Unanswered int     `json:"unanswered"`  // of these, after which none began before the end
	P50        float64 `json:"p50_seconds"` // of the others
	Max        float64 `json:"max_seconds"`
}

// Quantiles of a time, in seconds; nil where there was none to measure.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// tally reads the members' journals and counts.
func tally(o Options, members []*process) (Summary, error) {
	s := Summary{V: 1, Members: o.Members, Policy: o.Policy, Preset: o.Preset, Findings: []string{}}
	var b books
	var journals []audit.Journal
	kills := make(map[ident.Member][]uint64)
	for _, p := range members {
		j, err := b.read(filepath.Join(p.stateDir(), "journal"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
		if len(j.Entries) > 0 { // else the run ended before the member began
			journals = append(journals, j)
			kills[j.Member] = p.kills
			b.enter(j, p.kills, o.OperationTime)
		}
		_, counters, crashes := p.seen()
		s.Crashes += crashes
		s.Handoffs.Retried += counters.Handoffs.Retried
		s.Handoffs.Reselected += counters.Handoffs.Reselected
		s.Handoffs.InDoubtResolved += counters.Handoffs.InDoubtResolved
	}
	r := audit.Check(b.group, journals, audit.Options{})
	var handoffs []float64
	for _, t := range r.HandoffTimes() {
		handoffs = append(handoffs, float64(t)/1e6)
	}
	var struck []uint64 // when holders were killed
	for m, times := range kills {
		for _, at := range times {
			if r.Holds(m, at) {
				struck = append(struck, at)
			}
		}
	}
	s.Hops, s.Operations, s.Handoffs.OK = len(handoffs), len(b.operating), b.receipts
	s.OverlapSeconds, s.MaxConcurrent = overlap(b.operating)
	s.HandoffSeconds, s.ReturnSeconds = quantiles(handoffs), quantiles(b.returns)
	s.Recovery = b.recovery(struck)
	s.judge(r)
	return s, nil
}

// judge takes in what the journals prove about custody.
func (s *Summary) judge(r *audit.Report) {
	for _, t := range r.Tokens {
		s.Tokens.Generated++
		switch {
		case t.Fate == audit.Dropped:
			s.Tokens.Dropped++
		case t.Fate.Lost():
			s.Tokens.Lost++
		}
	}
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, f.String())
		switch f.Kind {
		case audit.Overlap, audit.Fork, audit.Twice:
			s.Duplicates++
		}
	}
}

// span is a time during which something held, in µs since 1970.
type span struct{ from, to uint64 }

// books are what the journals say about time.
type books struct {
	group     ident.Group
	operating []span
	starts    []uint64  // of operations, also of those whose end is not known
	returns   []float64 // seconds
	receipts  uint64
}

// read reads one journal. A torn tail is what a kill leaves.
func (b *books) read(dir string) (j audit.Journal, err error) {
	for f, err := range store.Frames(nil, dir) {
		var torn *journal.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return j, err
		}
		b.group, j.Member = f.Segment.Group, f.Segment.Member
		if f.FromCheckpoint || len(f.Body) == 0 {
			continue
		}
		at, r, err := journal.Decode(f.Body)
		if err != nil {
			return j, err
		}
		j.Entries = append(j.Entries, audit.Entry{At: at, Record: r})
	}
	return j, nil
}

// enter takes in the times of one journal. The end of an
// operation during which the member was killed is written when it is back; it has
// taken the time that operations take here.
func (b *books) enter(j audit.Journal, kills []uint64, operation time.Duration) {
	begun := make(map[ident.Grant]uint64)
	var began []uint64
	for _, e := range j.Entries {
		switch r := e.Record.(type) {
		case *journal.Closed:
			if len(r.Receipt) > 0 {
				b.receipts++
			}
		case *journal.Started:
			begun[r.Grant] = e.At
			b.starts = append(b.starts, e.At)
		case *journal.Ended:
			from, ok := begun[r.Grant]
			if !ok || !r.Operated {
				continue
			}
			to := e.At
			if slices.ContainsFunc(kills, func(at uint64) bool { return from <= at && at < to }) {
				to = min(to, from+uint64(operation.Microseconds()))
			}
			b.operating = append(b.operating, span{from, to})
			began = append(began, from)
		}
	}
	slices.Sort(began) // over a restart, operations may end in another order
	for i := 1; i < len(began); i++ {
		b.returns = append(b.returns, float64(began[i]-began[i-1])/1e6)
	}
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
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
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

func quantiles(values []float64) *Quantiles {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[int(q*float64(len(values)-1))] }
	return &Quantiles{P50: at(0.5), P99: at(0.99)}
}
