package catalog_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// timersMax is how many timers of one instant may lead to another one at the same
// instant: tokens that wait here may go on one after the other.
const timersMax = policy.MaxQueue + 1

// TestPolicies_Each_NoSpin: whatever happens, and however often the driver refuses to make
// a token or to run, no policy asks for the same instant again and again.
func TestPolicies_Each_NoSpin(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			t.Run(name+" "+preset.Name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { checkSpin(t, name, preset.Name) })
			})
		}
	}
}

func checkSpin(t *rapid.T, name, preset string) {
	params := policy.Params{
		Preset:        preset,
		OperationTime: time.Duration(rapid.SampledFrom([]int{1, 50}).Draw(t, "operation")) * time.Millisecond,
		MembersMax:    rapid.SampledFrom([]int{1, 4}).Draw(t, "members"),
		SkipDelay:     time.Duration(rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "skip")) * time.Millisecond,
	}
	if name == catalog.Multitoken {
		params.TargetInterval = time.Duration(rapid.SampledFrom([]int{1, 100}).Draw(t, "target")) * time.Millisecond
	}
	made, err := catalog.New(name, params, policy.Surroundings{Random: rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)})
	require.NoError(t, err)
	d := &driver{T: t, policy: made, willing: rapid.Bool().Draw(t, "willing")}
	for range rapid.IntRange(1, 60).Draw(t, "events") {
		d.happen()
		d.pass(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 300}).Draw(t, "pause")) * time.Millisecond)
	}
}

// tokens is how many there are: fewer than any policy keeps apart. One more goes on
// at once when it comes back, and it is the handoff that lets it rest.
const tokens = 8

// driver performs what a policy says. Nobody takes a token: it comes back, at
// once where the driver is not willing.
type driver struct {
	*rapid.T
	policy  policy.Policy
	now     clock.Instant
	willing bool // makes tokens, runs, and passes on
	here    []ident.Token
	running ident.Token
	demand  bool
	tokens  byte
	queue   []policy.Event
}

func (d *driver) happen() {
	switch rapid.IntRange(0, 5).Draw(d.T, "what") {
	case 0:
		d.tokens++
		d.arrives(policy.Arrival, ident.Token{d.tokens%tokens + 1})
	case 1:
		d.demand = !d.demand
		d.step(policy.Event{Kind: policy.DemandChanged, Demand: d.demand})
	case 2:
		if d.running != (ident.Token{}) {
			d.ends(rapid.Bool().Draw(d.T, "operated"))
		}
	case 3:
		from := ident.Member{rapid.Byte().Draw(d.T, "neighbour") % 3}
		d.step(policy.Event{Kind: policy.Neighbour, From: from, Members: 3})
	case 4:
		body := rapid.SampledFrom([]string{"\x01", "\x02", "\x03", "\x04"}).Draw(d.T, "kind") + "\x00\x00\x00\x01\x00\x00\x00\x05"
		d.step(policy.Event{Kind: policy.Message, From: ident.Member{1}, Body: []byte(body)})
	case 5:
		d.step(policy.Event{Kind: policy.Timer})
	}
}

func (d *driver) arrives(kind policy.EventKind, id ident.Token) {
	if slices.Contains(d.here, id) {
		return
	}
	d.here = append(d.here, id)
	d.step(policy.Event{Kind: kind, Token: policy.Token{ID: id, Born: uint64(id[0]), Hop: uint64(kind)}})
}

func (d *driver) ends(operated bool) {
	id := d.running
	d.running = ident.Token{}
	d.step(policy.Event{Kind: policy.OperationEnded, Operated: operated, Token: policy.Token{ID: id}})
}

// pass lets time pass, with the timers asked for.
func (d *driver) pass(pause time.Duration) {
	end := d.now.Add(pause)
	for timers := 0; d.policy.Deadline() <= end; timers++ {
		if d.policy.Deadline() > d.now {
			timers = 0
		}
		d.now = max(d.now, d.policy.Deadline())
		require.Less(d, timers, timersMax, "spins at %v", d.now)
		d.step(policy.Event{Kind: policy.Timer})
	}
	d.now = end
}

// step tells an event, and all that follows from it at the same instant.
func (d *driver) step(e policy.Event) {
	d.queue = append(d.queue, e)
	for steps := 0; len(d.queue) > 0; steps++ {
		require.Less(d, steps, 10*timersMax, "answers without end")
		e, d.queue = d.queue[0], d.queue[1:]
		for _, a := range d.policy.Step(d.now, e, nil) {
			d.perform(&a)
		}
	}
}

func (d *driver) perform(a *policy.Action) {
	switch a.Kind {
	case policy.Run:
		if d.demand && d.willing {
			d.running = a.Token
			return
		}
		if d.demand { // all who waited were refused
			d.demand = false
			d.queue = append(d.queue, policy.Event{Kind: policy.DemandChanged})
		}
		d.queue = append(d.queue, policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: a.Token}})
	case policy.Pass, policy.Drop:
		i := slices.Index(d.here, a.Token)
		if i < 0 {
			return
		}
		if a.Kind == policy.Pass && !d.willing {
			d.queue = append(d.queue, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: policy.Token{ID: a.Token, Born: uint64(a.Token[0])}})
			return
		}
		d.here = slices.Delete(d.here, i, i+1)
	case policy.Generate:
		if d.willing && len(d.here) == 0 {
			d.tokens++
			id := ident.Token{d.tokens%tokens + 1}
			d.here = append(d.here, id)
			d.queue = append(d.queue, policy.Event{Kind: policy.Generated, Token: policy.Token{ID: id, Born: uint64(id[0])}})
		}
	}
}
