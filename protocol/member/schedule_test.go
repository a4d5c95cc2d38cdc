package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/windows"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/wire"
)

// A resource that is open for a while only: rules P-91 to P-93. Tests begin on a Monday at 12:00 UTC.

// wants notes what a policy is told of demand.
type wants struct {
	watcher
	told []bool
}

func (w *wants) PolicyStepped(_ string, _ uint64, _ clock.Instant, e policy.Event, _ []policy.Action) {
	if e.Kind == policy.DemandChanged {
		w.told = append(w.told, e.Demand)
	}
}

// paramsOf are parameters that a preset takes.
func paramsOf(t testing.TB, policyName, preset string) policy.Params {
	p := policy.Params{Preset: preset, OperationTime: 10 * time.Second, MaxHold: time.Hour, MembersMax: 10, SkipDelay: 10 * time.Millisecond}
	switch {
	case policyName == catalog.Multitoken:
		p.TargetInterval = time.Minute
	case policyName == catalog.Wandering && preset == wandering.Paper:
		p.MinInterval, p.RegenerationMean = time.Millisecond, 1000*time.Hour
	}
	require.NoError(t, catalog.Check(policyName, p))
	return p
}

// opensAt is a member alone that holds the tokens of a resource with windows.
func opensAt(t testing.TB, policyName string, preset string, texts ...string) (*box, *wants) {
	return slotsOpenAt(t, 1, policyName, preset, texts...)
}

// slotsOpenAt is the same with several slots.
func slotsOpenAt(t testing.TB, slots int, policyName string, preset string, texts ...string) (*box, *wants) {
	s := settings(1, paramsOf(t, policyName, preset))
	r := &s.Resources[0]
	r.Policy, r.Slots, r.MaxHold, r.Windows = policyName, slots, time.Hour, windows.Of(t, texts...)
	a, w := newAuthorityWith(t, s), new(wants)
	return a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found, c.Observer = true, w }), w
}

// waits steps a member often, and reports whether a program was let run.
func waits(b *box, d time.Duration) bool {
	for range d / (500 * time.Millisecond) {
		if b.after(500 * time.Millisecond); granted(b) != nil {
			return true
		}
	}
	return false
}

const asksFor = time.Second

// asks has a program wait, and returns what it is granted within asksFor: an idle token is not ready in each moment.
func asks(b *box, d member.Demand) *effect.Grant {
	d.Resource = resource
	b.step(d)
	for i := 0; i < 20 && granted(b) == nil; i++ {
		b.after(asksFor / 20)
	}
	return granted(b)
}

// TestWindow_Closed_NothingBegins: P-91, under each preset of each policy. Its policy is not told that anybody waits.
func TestWindow_Closed_NothingBegins(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			t.Run(name+"/"+preset.Name, func(t *testing.T) {
				b, told := opensAt(t, name, preset.Name, "Mon 12:10-13:00 UTC")
				b.step(member.Demand{Request: 1, Resource: resource})
				assert.False(t, waits(b, 9*time.Minute+59*time.Second))
				assert.Empty(t, told.told)
				assert.Equal(t, 1, b.Status().Slots[0].Waiting)
				assert.Equal(t, member.HoursStatus{Closed: true, Opens: began.Add(10 * time.Minute)}, b.Status().Slots[0].Hours)
				assert.True(t, granted(b) != nil || waits(b, 5*time.Minute), "in the window")
				assert.Equal(t, true, told.told[0])
			})
		}
	}
}

// TestWindow_NearItsEnd_NothingBegins: P-91. An operation that still fits begins.
func TestWindow_NearItsEnd_NothingBegins(t *testing.T) {
	for left, begins := range map[time.Duration]bool{20 * time.Second: true, 10*time.Second - 1: false} {
		b, told := opensAt(t, catalog.Wandering, wandering.Light, "Mon 11:00-12:05 UTC", "Tue 12:00-13:00 UTC")
		waits(b, 4*time.Minute+40*time.Second)
		b.after(20*time.Second - left)
		assert.Equal(t, begins, asks(b, member.Demand{Request: 1}) != nil, left)
		assert.Equal(t, begins, len(told.told) > 0, left)
		if !begins {
			assert.Equal(t, member.HoursStatus{Closed: true, Opens: began.Add(24 * time.Hour), Closes: began.Add(5 * time.Minute)}, b.Status().Slots[0].Hours)
		}
	}
}

// TestWindow_SeveralSlots_AllOpen: the slots of a resource open and close at once.
func TestWindow_SeveralSlots_AllOpen(t *testing.T) {
	b, told := slotsOpenAt(t, 3, catalog.Wandering, wandering.Light, "Mon 12:10-13:00 UTC")
	for n := range uint64(4) {
		b.step(member.Demand{Request: n, Resource: resource})
	}
	waits(b, 9*time.Minute+59*time.Second)
	require.Empty(t, told.told)
	waits(b, 5*time.Second)
	assert.Equal(t, []bool{true, true, true}, told.told)
	for _, s := range b.Status().Slots {
		assert.True(t, s.Executing)
		assert.Equal(t, member.HoursStatus{Closes: began.Add(time.Hour)}, s.Hours)
	}
	b.now.Wall = began
	b.step(member.Tick{})
	assert.Equal(t, []bool{true, true, true, false, false, false}, told.told)
}

// TestWindow_Adjoining_NothingCloses: windows that follow one another are one.
func TestWindow_Adjoining_NothingCloses(t *testing.T) {
	b, _ := opensAt(t, catalog.Wandering, wandering.Light, "Mon 11:00-12:05 UTC", "Mon 12:05-13:00 UTC")
	waits(b, 5*time.Minute-time.Second)
	g := asks(b, member.Demand{Request: 1})
	require.NotNil(t, g)
	assert.Equal(t, 55*time.Minute+time.Second, g.Length.Round(time.Second))
}

// TestWindow_Grant_EndsWithIt: P-92. Whatever a program asks for, it has ended when the window closes.
func TestWindow_Grant_EndsWithIt(t *testing.T) {
	b, _ := opensAt(t, catalog.Wandering, wandering.Light, "Mon 11:00-12:05 UTC")
	waits(b, 4*time.Minute)
	g := asks(b, member.Demand{Request: 1, MaxHold: 30 * time.Minute})
	require.NotNil(t, g)
	assert.Equal(t, began.Add(5*time.Minute), b.now.Wall.Add(g.Length))
	assert.Equal(t, b.now.Boot.Add(g.Length), g.Deadline)
}

// TestWindow_Opens_Steps: a member that waits for nothing else wants to be stepped when a window opens, and when it is about to
// close.
func TestWindow_Opens_Steps(t *testing.T) {
	b, told := opensAt(t, catalog.Wandering, wandering.Light, "Mon 12:10-12:20 UTC")
	b.step(member.Demand{Request: 1, Resource: resource, OncePer: time.Hour})
	for b.now.Wall.Before(began.Add(10 * time.Minute)) {
		require.LessOrEqual(t, b.NextDeadline().Sub(b.now.Boot), began.Add(10*time.Minute).Sub(b.now.Wall))
		b.after(max(b.NextDeadline().Sub(b.now.Boot), time.Millisecond))
	}
	assert.Equal(t, []bool{true}, told.told)
}

// TestWindow_ClockSet_FollowsIt: the wall clock decides, also after it was set.
func TestWindow_ClockSet_FollowsIt(t *testing.T) {
	b, told := opensAt(t, catalog.Wandering, wandering.Light, "Mon 12:10-12:20 UTC")
	b.step(member.Demand{Request: 1, Resource: resource})
	b.now.Wall = began.Add(15 * time.Minute)
	b.step(member.Tick{})
	require.NotNil(t, granted(b))
	b.step(member.Ended{Grant: granted(b).Grant, Operated: true})
	b.step(member.Demand{Request: 2, Resource: resource})
	b.now.Wall = began
	b.step(member.Tick{})
	assert.False(t, waits(b, time.Minute))
	assert.Equal(t, false, told.told[len(told.told)-1])
}

// TestWindow_Configured_AtOnce: other windows count as soon as the configuration is in force. A program runs on until its own deadline (P-92).
func TestWindow_Configured_AtOnce(t *testing.T) {
	a := newAuthority(t)
	c := &changed{box: a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true }), t: t, a: a, version: 1}
	c.step(member.Demand{Request: 1, Resource: resource})
	g := granted(c.box)
	require.NotNil(t, g)
	c.toResource(func(r *group.Resource) { r.Windows = windows.Of(t, "Tue 12:00-13:00 UTC") })
	for c.now.Boot.Before(g.Deadline.Add(-time.Second)) {
		c.after(time.Second)
		require.True(t, c.Status().Slots[0].Executing)
	}
	c.step(member.Ended{Grant: g.Grant, Operated: true})
	c.step(member.Demand{Request: 2, Resource: resource})
	assert.False(t, waits(c.box, 10*time.Second))
	c.toResource(func(*group.Resource) {})
	assert.True(t, granted(c.box) != nil || waits(c.box, 10*time.Second))
}

// TestWindow_Closed_TokenPassedOn: P-93. A member whose window is closed offers its token to others, though a program waits here.
func TestWindow_Closed_TokenPassedOn(t *testing.T) {
	for _, preset := range []string{wandering.Paper, wandering.Light, wandering.Fair} {
		p := quick
		if p.Preset = preset; preset != wandering.Paper {
			p.RegenerationMean = 0
		}
		s := settings(1, p)
		s.Resources[0].Windows = windows.Of(t, "Tue 12:00-13:00 UTC")
		a := newAuthorityWith(t, s)
		b := a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true })
		b.step(member.Demand{Request: 1, Resource: resource})
		b.meet(a.issue(2, 24*time.Hour))
		offered := said[*wire.Offer](b) != nil
		for i := 0; i < 600 && !offered; i++ {
			b.after(100 * time.Millisecond)
			require.Nil(t, granted(b))
			offered = said[*wire.Offer](b) != nil
		}
		assert.True(t, offered, preset)
	}
}

// TestWindow_Restart_Kept: a member that restarts looks at its windows again.
func TestWindow_Restart_Kept(t *testing.T) {
	b, _ := opensAt(t, catalog.Wandering, wandering.Light, "Mon 12:10-13:00 UTC")
	b.restart()
	b.after(time.Minute)
	b.step(member.Demand{Request: 1, Resource: resource})
	assert.False(t, waits(b, 8*time.Minute+50*time.Second))
	assert.True(t, waits(b, time.Minute))
}

// TestWindow_GateOpensTooLate_NothingBegins: the gate has kept the program waiting until less than operation_time was left.
func TestWindow_GateOpensTooLate_NothingBegins(t *testing.T) {
	v := visits(t, true, func(r *group.Resource) {
		r.OperationTime, r.Windows = 8*time.Second, windows.Of(t, "Mon 11:00-12:01 UTC")
	})
	for v.now.Wall.Second() < 50 {
		v.after(100 * time.Millisecond)
	}
	v.step(member.Demand{Request: 1, Resource: resource})
	asked := v.knocks(time.Second)
	require.NotNil(t, asked, v.now.Wall)
	for v.now.Wall.Second() < 53 {
		v.after(100 * time.Millisecond)
	}
	v.says(asked.Entry, gate.OpenAnswer{Session: 7, Until: v.in(16 * time.Second)})
	assert.Nil(t, granted(v.box))
	assert.NotNil(t, last[effect.SignOut](v.box))
	v.says(asked.Entry, gate.ClosedAnswer{Session: 7, Reason: gate.BySignOut})
	assert.Equal(t, 1, v.Status().Slots[0].Waiting)
}

// BenchmarkWindow_ManySlots: what it costs that the windows of a resource open and close that has many slots.
func BenchmarkWindow_ManySlots(b *testing.B) {
	s := settings(1, paramsOf(b, catalog.Wandering, wandering.Light))
	r := &s.Resources[0]
	r.Slots, r.MaxHold = group.MaxSlots, time.Hour
	for _, day := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Mon"} {
		r.Windows = append(r.Windows, windows.Of(b, day+" 22:00-06:00 CET-1CEST,M3.5.0,M10.5.0/3")...)
	}
	a := newAuthorityWith(b, s)
	m := a.open(a.issue(1, 24*time.Hour), func(*member.Config) {})
	closed, open := began, began.Add(11*time.Hour)
	b.ResetTimer()
	for range b.N {
		for _, m.now.Wall = range [...]time.Time{open, closed} {
			m.step(member.Tick{})
		}
	}
}
