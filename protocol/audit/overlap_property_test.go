package audit_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// history is what truly happened, while members write their journals about it.
type history struct {
	*rapid.T
	rng    *rand.Rand // times are drawn evenly: rapid would prefer short ones, and nothing would overlap
	world  *audittest.World
	base   map[*audittest.Author]time.Duration // of its clock at the start
	rate   map[*audittest.Author]int           // by how many ppm it is fast
	tokens []*tracked
	ran    []truth
	grants byte
}

// tracked is a token, and the grant under it.
type tracked struct {
	title token.Title
	by    *audittest.Author
	grant ident.Grant
	since time.Time // when it was granted; zero: no grant
}

// truth is when a program ran, in true time.
type truth struct {
	token    ident.Token
	from, to time.Time
}

const granted = audittest.MaxHold + 250*time.Millisecond

func newHistory(t *rapid.T) *history {
	h := &history{
		T: t, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), world: audittest.New("ann", "ben", "cleo", "dan"),
		base: make(map[*audittest.Author]time.Duration), rate: make(map[*audittest.Author]int),
	}
	for _, m := range h.world.List {
		h.base[m] = h.span(4800*time.Millisecond) - 2400*time.Millisecond // so that none are 5 s apart
		h.rate[m] = h.rng.IntN(801) - 400
	}
	return h
}

func (h *history) span(most time.Duration) time.Duration {
	return time.Duration(h.rng.Int64N(most.Microseconds()+1)) * time.Microsecond
}

// part is two times between two others: often close to them, and sometimes anywhere.
func (h *history) part(from, to time.Time) (begin, end time.Time) {
	slack := to.Sub(from)
	if h.rng.IntN(4) > 0 {
		slack /= 20
	}
	begin = from.Add(h.span(slack))
	return begin, to.Add(-h.span(min(slack, to.Sub(begin))))
}

// pass lets true time go on, and the clocks of the members with it; the next
// record is written at its end.
func (h *history) pass(d time.Duration) {
	h.world.Step = d
	for _, m := range h.world.List {
		m.Ahead = h.ahead(m, h.world.Now.Add(d))
	}
}

func (h *history) ahead(m *audittest.Author, at time.Time) time.Duration {
	return h.base[m] + at.Sub(audittest.Start)*time.Duration(h.rate[m])/1_000_000
}

// clock is what a member's clock shows at a time, in the unit of journals.
func (h *history) clock(m *audittest.Author, at time.Time) uint64 {
	return uint64(at.Add(h.ahead(m, at)).UnixMicro())
}

// when is the time at which a member's clock shows that, rounded down to microseconds.
func (h *history) when(m *audittest.Author, clock uint64) time.Time {
	shown := time.UnixMicro(int64(clock)).Sub(audittest.Start) - h.base[m]
	return audittest.Start.Add(shown - shown*time.Duration(h.rate[m])/time.Duration(1_000_000+h.rate[m])).Truncate(time.Microsecond)
}

func (h *history) write(m *audittest.Author, r journal.Record) {
	h.pass(h.span(3 * time.Second))
	m.Write(r)
}

// happen lets one thing happen.
func (h *history) happen() {
	m := h.world.List[h.rng.IntN(len(h.world.List))]
	if len(h.tokens) == 0 || len(h.tokens) < 3 && h.rng.IntN(5) == 0 {
		h.pass(h.span(3 * time.Second))
		h.tokens = append(h.tokens, &tracked{title: m.Generate(), by: m})
		return
	}
	k := h.tokens[h.rng.IntN(len(h.tokens))]
	switch {
	case k.by == nil: // it went to somebody who never took it
	case !k.since.IsZero():
		h.end(k)
	case m == k.by || h.rng.IntN(2) == 0:
		h.begin(k)
	default:
		h.hand(k, m)
	}
}

func (h *history) begin(k *tracked) {
	h.grants++
	k.grant = ident.Grant{h.grants}
	h.write(k.by, &journal.Started{
		Grant: k.grant, Token: k.title.Token(), Hop: k.title.Hop(), Resource: audittest.Resource, Length: uint64(granted),
	})
	k.since = h.world.Now
}

// end writes that a grant has ended, as members come to know it: by a report, at the
// deadline, or at a restart after the deadline or after a reboot.
func (h *history) end(k *tracked) {
	r := &journal.Ended{Grant: k.grant, Operated: true, Cause: journal.EndReported}
	pause := h.span(3 * time.Second)
	deadline := k.since.Add(granted)
	switch h.rng.IntN(6) {
	case 0:
		r.Cause = journal.EndDeadline
		pause += max(0, deadline.Sub(h.world.Now))
	case 1:
		r.Cause = journal.EndRestarted
		pause += max(0, deadline.Sub(h.world.Now)) + h.span(time.Minute)
	case 2:
		r.Cause = journal.EndRestarted
	}
	at := h.world.Now.Add(pause)
	ran := h.run(k, at)
	h.pass(pause)
	if r.Cause == journal.EndReported && h.rng.IntN(4) > 0 {
		from, to := h.part(ran.from, ran.to)
		now := h.clock(k.by, at) // the record has how long before it the looks were
		r.SeenFrom, r.SeenTo = now-uint64(at.Sub(from).Microseconds())+1, now-uint64(at.Sub(to).Microseconds())-1
	}
	k.by.Write(r)
	k.since = time.Time{}
}

// run decides when the program under a grant has run: at some time between the
// grant and its deadline, but not after it is known to have ended.
func (h *history) run(k *tracked, known time.Time) truth {
	last := k.since.Add(granted)
	if known.Before(last) {
		last = known
	}
	from, to := h.part(k.since, last)
	one := truth{k.title.Token(), from, to}
	h.ran = append(h.ran, one)
	return one
}

// hand gives a token away: to somebody who takes it, or whose answer is lost.
func (h *history) hand(k *tracked, to *audittest.Author) {
	h.pass(h.span(3 * time.Second))
	tr := k.by.Send(k.title, to)
	from := k.by
	if h.rng.IntN(10) == 0 {
		k.by = nil
		return
	}
	h.pass(h.span(300 * time.Millisecond))
	k.title, k.by = to.Take(k.title, tr), to
	if h.rng.IntN(4) > 0 {
		h.pass(h.span(300 * time.Millisecond))
		from.Close(tr, to.Answer(token.Receipt, tr))
	}
}

// finish decides when the programs ran that no record says have ended.
func (h *history) finish() {
	for _, k := range h.tokens {
		if k.by != nil && !k.since.IsZero() {
			h.run(k, k.since.Add(granted))
		}
	}
}

// overlap is for how long more than one program ran, of those that count.
func (h *history) overlap(until time.Time, counts func(truth) bool) time.Duration {
	type edge struct {
		at    time.Time
		delta int
	}
	var edges []edge
	for _, r := range h.ran {
		if counts(r) {
			edges = append(edges, edge{r.from, 1}, edge{r.to, -1})
		}
	}
	slices.SortFunc(edges, func(x, y edge) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.delta, y.delta)) })
	total, running, since := time.Duration(0), 0, time.Time{}
	for _, e := range edges {
		to := e.at
		if to.After(until) {
			to = until
		}
		if running > 1 && to.After(since) {
			total += to.Sub(since)
		}
		running, since = running+e.delta, e.at
	}
	return total
}

// collected is what an auditor gets: some journals, of which some were copied while
// they were written. It returns when the last record in them was written.
func (h *history) collected() (some []*audittest.Author, last time.Time) {
	least := len(h.world.List[0].Preamble())
	last = audittest.Start
	for _, i := range h.rng.Perm(4)[:1+h.rng.IntN(4)] {
		m := h.world.List[i]
		if h.rng.IntN(2) == 0 {
			m.Frames = m.Frames[:least+h.rng.IntN(len(m.Frames)-least+1)]
		}
		some = append(some, m)
		at, _, err := journal.Decode(m.Frames[len(m.Frames)-1].Body)
		require.NoError(h, err)
		written := h.when(m, at)
		if written.After(last) {
			last = written
		}
	}
	return some, last
}

// known are the tokens whose genesis is in some journal.
func known(t require.TestingT, some []*audittest.Author) map[ident.Token]bool {
	list := make(map[ident.Token]bool)
	for _, m := range some {
		for _, f := range m.Frames {
			_, r, err := journal.Decode(f.Body)
			require.NoError(t, err)
			raw := []byte(nil)
			switch r := r.(type) {
			case *journal.Generated:
				raw = r.Genesis
			case *journal.Held:
				raw = r.Genesis
			}
			if len(raw) > 0 {
				_, id, err := token.PeekGenesis(m.Group.ID(), raw)
				require.NoError(t, err)
				list[ident.Token(id)] = true
			}
		}
	}
	return list
}

// Whatever members do, however their clocks go, and whatever is missing of their
// journals: for at least as long as the audit calls certain more than one program
// ran, and for at most as long as it calls possible, up to the last record that it
// has and under tokens that the journals name.
func TestOverlap_TrueSchedule_BetweenCertainAndPossible(t *testing.T) {
	certain, possible := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range 4 + h.rng.IntN(60) {
			h.happen()
		}
		h.finish()
		some, last := h.collected()
		r := h.world.Report(audit.Options{Skew: uint64((5 * time.Second).Microseconds())}, some...)
		for _, f := range r.Findings { // members here go on writing while they are said to be down, and make tokens by their clocks
			require.Contains(t, []audit.Kind{audit.Outlived, audit.Backdated}, f.Kind, "%v", f)
		}
		o := audit.Overlaps{}
		for _, one := range r.Resources {
			if one.Name == audittest.Resource {
				o = one.Overlap
			}
		}
		real := h.overlap(h.world.Now.Add(time.Hour), func(truth) bool { return true })
		tokens := known(t, some)
		shown := h.overlap(last, func(r truth) bool { return tokens[r.token] })
		// A clock that is 400 ppm fast counts as many more seconds.
		require.LessOrEqual(t, float64(o.Certain), float64(real.Microseconds())*1.0005+1, fmt.Sprintf("%+v", o))
		require.GreaterOrEqual(t, float64(o.Possible)*1.0005+1, float64(shown.Microseconds()), fmt.Sprintf("%+v", o))
		require.LessOrEqual(t, o.Certain, o.Recorded)
		require.LessOrEqual(t, o.Recorded, o.Possible)
		if o.Certain > 0 {
			certain++
		}
		if shown > 0 {
			possible++
		}
	})
	t.Logf("%d schedules with certain overlap, %d with overlap", certain, possible)
	assert.Positive(t, possible, "the property says nothing")
}
