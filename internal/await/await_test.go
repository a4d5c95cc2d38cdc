package await

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, looks := time.Now(), 0
		require.True(t, Holds(time.Second, func() bool { looks++; return looks == 4 }))
		require.Equal(t, 3*time.Second, time.Since(start))

		start = time.Now()
		require.False(t, Holds(time.Second, func() bool { return false }))
		require.Equal(t, patience, time.Since(start))
	})
}

// A process that is stopped for longer than the patience goes on looking.
func TestStoppedProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		require.True(t, Holds(time.Second, func() bool {
			if looks++; looks == 2 {
				time.Sleep(2 * patience)
			}
			return looks == 5
		}))
	})
}

// fails is a test that can be failed by another one.
type fails struct {
	testing.TB
	said string
}

func (f *fails) Helper()           {}
func (f *fails) Fatal(args ...any) { f.said = args[0].(string) }

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fails{TB: t}
		Until(f, "anything", func() bool { return true })
		require.Empty(t, f.said)
		start, looks := time.Now(), 0
		Until(f, "the end", func() bool { looks++; return false })
		require.Equal(t, "never happened: the end", f.said)
		require.InDelta(t, patience, time.Since(start), float64(mostPause))
		require.Less(t, looks, int(patience/mostPause)+200, "seldom in the end")

		start, looks = time.Now(), 0
		Until(f, "soon", func() bool { looks++; return looks == 10 })
		require.Equal(t, 9*leastPause, time.Since(start), "and often in the beginning")
	})
}

func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := &fails{TB: t}, make(chan int)
		go func() {
			time.Sleep(patience / 2)
			c <- 7
			close(c)
		}()
		require.Equal(t, 7, Next(f, "seven", c))
		require.Zero(t, Next(f, "the end", c))
		require.Empty(t, f.said)
		require.Zero(t, Next(f, "anything", make(chan int)))
		require.Equal(t, "never came: anything", f.said)
	})
}
