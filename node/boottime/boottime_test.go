package boottime

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
)

// hang bounds tests that would otherwise wait without end. Nothing is measured
// against it.
const hang = 3 * time.Minute

func TestNow_Repeated_NeverGoesBack(t *testing.T) {
	before := Now()
	for range 1000 {
		after := Now()
		require.False(t, after.Before(before))
		before = after
	}
}

func TestID_Repeated_Same(t *testing.T) {
	assert.Equal(t, ID(), ID())
}

func TestAlarm_Future_NotBeforeItsInstant(t *testing.T) {
	at := Now().Add(20 * time.Millisecond)
	a := NewAlarm(at)
	defer a.Stop()
	requireFires(t, a)
	assert.False(t, Now().Before(at))
}

func TestAlarm_Past_AtOnce(t *testing.T) {
	for _, at := range []clock.Instant{-1, 0, 1, Now()} {
		a := NewAlarm(at)
		requireFires(t, a)
		a.Stop()
	}
}

func TestAlarm_Stopped_DoesNotFire(t *testing.T) {
	never := NewAlarm(clock.Never)
	stopped := NewAlarm(Now().Add(time.Hour))
	stopped.Stop()
	stopped.Stop()
	for _, a := range []*Alarm{never, stopped} {
		select {
		case <-a.C:
			t.Fatal("the alarm fired")
		default:
		}
	}
	never.Stop()
}

// TestPollingAlarm checks the way that systems without a suitable timer go.
func TestPollingAlarm(t *testing.T) {
	fired := make(chan struct{})
	a := &Alarm{C: fired, quit: make(chan struct{})}
	at := Now().Add(20 * time.Millisecond)
	go a.waitPolling(at, fired)
	requireFires(t, a)
	assert.False(t, Now().Before(at))
}

func TestPollingAlarm_Stopped_DoesNotFire(t *testing.T) {
	a := &Alarm{quit: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		a.waitPolling(Now().Add(time.Hour), make(chan struct{}))
		close(ended)
	}()
	a.Stop()
	select {
	case <-ended:
	case <-time.After(hang):
		t.Fatal("the alarm goes on after Stop")
	}
}

func requireFires(t *testing.T, a *Alarm) {
	t.Helper()
	select {
	case <-a.C:
	case <-time.After(hang):
		t.Fatal("the alarm did not fire")
	}
}

// A process that follows package time has the time of a bubble, and waits in it.
func TestFollowTime_Bubble_VirtualTime(t *testing.T) {
	before := ID()
	FollowTime()
	defer virtual.Store(false)
	assert.NotEqual(t, before, ID(), "its readings are comparable with no others")
	synctest.Test(t, func(t *testing.T) {
		begin, at := time.Now(), Now().Add(time.Hour)
		a, stopped := NewAlarm(at), NewAlarm(at)
		stopped.Stop()
		<-a.C
		assert.Equal(t, time.Hour, time.Since(begin))
		assert.Equal(t, at, Now())
		synctest.Wait()
		select {
		case <-stopped.C:
			t.Error("the alarm fired")
		default:
		}
		requireFires(t, NewAlarm(at))
	})
}
