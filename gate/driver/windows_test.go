package driver_test

import (
	"context"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/window"
)

// day is a gate whose clock stands, and whose resource is open each day until a minute that comes soon.
type day struct {
	*station
	clock atomic.Int64 // ns since 1970
	ends  time.Time    // of the window
}

func newDay(t *testing.T, members int, change func(*group.Resource)) *day {
	d := &day{ends: time.Now().UTC().Truncate(time.Minute).Add(2 * time.Minute)}
	begins := d.ends.Add(-time.Hour)
	w := newWorld(t, members, func(r *group.Resource) {
		r.MaxHold = 5 * time.Minute
		r.Windows = window.Windows{{Days: 127, Begin: 60*begins.Hour() + begins.Minute(), End: 60*d.ends.Hour() + d.ends.Minute(), Name: "UTC"}}
		if change != nil {
			change(r)
		}
	})
	d.set(-time.Minute)
	d.station = open(w, func(c *driver.Config) { c.Now = func() time.Time { return time.Unix(0, d.clock.Load()) } })
	return d
}

// set sets the clock, from the end of the window.
func (d *day) set(after time.Duration) { d.clock.Store(d.ends.Add(after).UnixNano()) }

// shut waits for the refusal of a sign-in outside the windows.
func (d *day) shut(t *testing.T, s *client.Session) {
	t.Helper()
	a := gatetest.Said[core.RefuseAnswer](t, s)
	assert.Equal(t, core.Shut, a.Code)
	assert.EqualValues(t, d.ends.Add(23*time.Hour).UnixMilli(), a.NotBefore)
}

// When the window ends, the session in it ends, with its streams; the member that waits and the one that comes hear when the next window begins.
func TestWindows_Close_SessionAndStreamsEnd(t *testing.T) {
	t.Parallel()
	d := newDay(t, 3, nil)
	first := d.w.SignIn(d.dial(0), d.w.Mint(0), 5*time.Minute)
	assert.EqualValues(t, d.ends.UnixMilli(), gatetest.Opened(t, first).Until)
	stream := connect(t, first)
	echoes(t, stream, "within\n")
	second := d.w.SignIn(d.dial(1), d.w.Mint(1), time.Minute)
	assert.EqualValues(t, d.ends.UnixMilli(), gatetest.Said[core.BusyAnswer](t, second).Until)
	c := d.dial(2)
	d.set(0)
	third := d.w.SignIn(c, d.w.Mint(2), time.Minute)
	d.shut(t, second)
	d.shut(t, third)
	assert.Equal(t, core.ClosedAnswer{Session: firstSession, Reason: core.ByWindows, Confirmed: true}, gatetest.Ended(t, first))
	_, err := stream.Read(make([]byte, 1))
	require.ErrorIs(t, err, client.ErrStreamCut)
	st, err := d.Status(context.Background())
	require.NoError(t, err)
	assert.True(t, st.Windows.Closed)
	assert.True(t, d.ends.Add(23*time.Hour).Equal(st.Windows.Until))
	assert.EqualValues(t, 1, st.Answers["closed: windows closed"])
	assert.EqualValues(t, 2, st.Answers["refuse: windows closed"])
	d.set(-time.Minute)
	gatetest.Opened(t, d.w.SignIn(d.dial(1), d.w.Mint(1), time.Minute))
	st, err = d.Status(context.Background())
	require.NoError(t, err)
	assert.False(t, st.Windows.Closed)
	assert.True(t, d.ends.Equal(st.Windows.Until))
}

// A gate that observes lets in, and logs what it would have refused.
func TestWindows_Observe_LetInAndLogged(t *testing.T) {
	t.Parallel()
	d := newDay(t, 1, func(r *group.Resource) { r.Gate.Mode = group.Observe })
	d.set(time.Minute)
	r := d.raw(t, d.w.Members[0])
	r.greet()
	r.say(d.signIn(t, r, d.w.Members[0], d.w.Mint(0), same))
	await.Until(t, "the sign-in is judged and logged", func() bool {
		st, err := d.Status(context.Background())
		require.NoError(t, err)
		return st.Answers["refuse: windows closed"] == 1 && strings.Contains(d.log.String(), `why="windows closed" observed=true`)
	})
	stream, err := r.quic.OpenStream()
	require.NoError(t, err)
	text, err := wire.Append(nil, &wire.Connect{Number: 1})
	require.NoError(t, err)
	_, err = stream.Write(append(text, "outside\n"...))
	require.NoError(t, err)
	got := make([]byte, len("outside\n"))
	_, err = io.ReadFull(stream, got)
	require.NoError(t, err)
	st, err := d.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 1, st.Counts["observed"], "connections")
}
