package member_test

import (
	"bytes"
	"fmt"
	"path"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/wire"
)

// couple is two members that pass tokens to each other and nothing else: messages
// arrive at once, and records are encoded and dropped.
type couple struct {
	t        testing.TB
	members  [2]*member.Member
	now      clock.Reading
	scratch  []byte
	mail     [2][][]byte       // to each
	grants   [2][]effect.Grant // of each
	requests uint64
	handoffs int
	written  int // bytes of journal frames, those of operations not counted
}

// newCouple starts two members of a group with one resource, connected, with a token
// in each slot.
func newCouple(t testing.TB, r group.Resource) *couple {
	p := &couple{t: t, now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: began}}
	s := settings(1, quick)
	s.Resources = []group.Resource{r.WithDefaults()}
	a := newAuthorityWith(t, s)
	people := [2]*someone{a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour)}
	for i, s := range people {
		m, effects, err := member.Restore(member.Config{
			Group: a.group, Certificate: s.certificate, Key: s.key, Durable: true, Found: i == 0,
			Machine: "here", Boot: "boot", Seed: [32]byte{byte(i)},
		}, nil, p.now)
		require.NoError(t, err)
		p.members[i] = m
		p.perform(i, effects)
	}
	for i := range people {
		p.step(i, member.Connected{Certificate: people[1-i].certificate})
		p.step(i, member.Announce{Addresses: []string{"member.example.org:1"}})
	}
	return p
}

func (p *couple) step(i int, in member.Input) { p.perform(i, p.members[i].Step(p.now, in)) }

func (p *couple) perform(i int, effects []effect.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Persist:
			body, err := journal.Append(p.scratch[:0], e.At, e.Record)
			require.NoError(p.t, err)
			p.scratch = body
			switch e.Record.(type) {
			case *journal.Started, *journal.Ended:
			default:
				p.written += len(body) + journal.FrameOverhead
			}
		case effect.Grant:
			p.grants[i] = append(p.grants[i], e)
		case effect.Send:
			body, err := wire.Append(p.scratch[:0], e.Message)
			require.NoError(p.t, err)
			p.scratch = body
			p.mail[1-i] = append(p.mail[1-i], bytes.Clone(body))
			if e.Message.Type() == wire.TypeReceipt {
				p.handoffs++
			}
		}
	}
}

// want has a program wait for the resource at each member: one more whenever one has
// operated.
func (p *couple) want() {
	for i := range p.members {
		p.demand(i)
	}
}

func (p *couple) demand(i int) {
	p.requests++
	p.step(i, member.Demand{Request: p.requests, Resource: resource})
}

// operate ends the operations that have begun.
func (p *couple) operate() {
	for i := range p.members {
		grants := p.grants[i]
		p.grants[i] = nil
		for _, g := range grants {
			p.step(i, member.Ended{Grant: g.Grant, Operated: true})
			p.demand(i)
		}
	}
}

// run lets time pass in steps of a millisecond until so many handoffs have been
// completed since.
func (p *couple) run(handoffs int) {
	deadline := p.now.Boot.Add(10 * time.Minute)
	for end := p.handoffs + handoffs; p.handoffs < end; {
		require.True(p.t, p.now.Boot.Before(deadline), "tokens circulate: %d handoffs, %d requests", p.handoffs, p.requests)
		p.now.Boot, p.now.Wall = p.now.Boot.Add(time.Millisecond), p.now.Wall.Add(time.Millisecond)
		for i, m := range p.members {
			if m.NextDeadline() <= p.now.Boot {
				p.step(i, member.Tick{})
			}
		}
		p.operate()
		for len(p.mail[0])+len(p.mail[1]) > 0 {
			for i := range p.members {
				mail := p.mail[i]
				p.mail[i] = nil
				for _, body := range mail {
					p.step(i, member.Received{From: p.members[1-i].ID(), Body: body})
				}
			}
		}
	}
}

// circulating are resources that circulate all the time, by their policies and
// presets.
func circulating(slots int) map[string]group.Resource {
	list := make(map[string]group.Resource)
	for _, preset := range []string{wandering.Paper, wandering.Light, wandering.Fair} {
		r := group.Resource{Name: resource, Policy: catalog.Wandering, Slots: slots, Params: quick}
		if r.Preset, r.SkipDelay = preset, policy.MinDuration; preset != wandering.Paper {
			r.RegenerationMean = 0
		}
		list[preset] = r
	}
	ring := group.Resource{Name: resource, Policy: catalog.Ring, Slots: slots, Params: quick}
	ring.Preset, ring.SkipDelay, ring.MinInterval, ring.RegenerationMean = "", policy.MinDuration, 0, 0
	list[catalog.Ring] = ring
	return list
}

func BenchmarkHandoff(b *testing.B) {
	for _, slots := range []int{64, 1024} {
		for _, preset := range []string{wandering.Paper, wandering.Light} {
			b.Run(fmt.Sprintf("%s/%d slots", preset, slots), func(b *testing.B) {
				p := newCouple(b, circulating(slots)[preset])
				p.run(2 * slots)
				b.ReportAllocs()
				b.ResetTimer()
				p.run(b.N)
			})
		}
	}
}

// decoders are what reads a certificate, an endpoint record or a key again, by how
// their functions' names end.
var decoders = []string{
	"certificate.Packed.Open", "certificate.PackedEndpoint.Body", "certificate.Parse", "certificate.Peek",
	"certificate.ParseEndpoint", "signature.ParsePublicKey",
}

// TestHandoff_SteadyState_DecodesNoCertificate has every allocation of many handoffs
// recorded with its stack: nothing is decoded without one.
func TestHandoff_SteadyState_DecodesNoCertificate(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	for name, r := range circulating(1) {
		t.Run(name, func(t *testing.T) {
			p := newCouple(t, r)
			p.want()
			p.run(100)
			runtime.MemProfileRate = 1
			before := allocations()
			p.run(100)
			after := allocations()
			runtime.MemProfileRate = 0
			require.Greater(t, after["envelope.Parse"], before["envelope.Parse"], "handoffs are in the profile")
			for _, f := range decoders {
				assert.Equal(t, before[f], after[f], "allocations in and below %s", f)
			}
		})
	}
}

// allocations counts the objects allocated in and below each function.
func allocations() map[string]int64 {
	runtime.GC() // a profile is of the time up to the last collection but one
	runtime.GC()
	n, _ := runtime.MemProfile(nil, true)
	records := make([]runtime.MemProfileRecord, n+1000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		return nil
	}
	counts := make(map[string]int64)
	for _, r := range records[:n] {
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			counts[path.Base(f.Function)] += r.AllocObjects
		}
	}
	return counts
}

// TestJournal_BytesPerHop_AsDocumented: docs/journal.md says that a hop takes 0.7
// kilobytes at each of the two members.
func TestJournal_BytesPerHop_AsDocumented(t *testing.T) {
	const hops = 100
	for name, r := range circulating(1) {
		p := newCouple(t, r)
		p.want()
		p.run(20)
		p.written = 0
		p.run(hops)
		each := float64(p.written) / hops / 2
		t.Logf("%s: %.0f bytes a hop and member", name, each)
		assert.InDelta(t, 700, each, 60, name)
	}
}

// TestHandoff_SteadyState_Allocations: docs/benchmarks.md says how many allocations a
// handoff needs, both members together.
func TestHandoff_SteadyState_Allocations(t *testing.T) {
	const handoffs = 500
	p := newCouple(t, circulating(64)[wandering.Paper])
	p.run(handoffs)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.run(handoffs)
	runtime.ReadMemStats(&after)
	each := float64(after.Mallocs-before.Mallocs)/handoffs - 4 // a copy of each message, by the test
	t.Logf("%.1f allocations and %d bytes for each handoff", each, (after.TotalAlloc-before.TotalAlloc)/handoffs)
	assert.InDelta(t, 68, each, 8)
}
