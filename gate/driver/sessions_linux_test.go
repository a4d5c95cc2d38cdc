package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/whole"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// footprint is what this process holds, and the gate's journal on the disk.
type footprint struct {
	heap, resident uint64
	goroutines     int
	files          int
	journal        int64
}

func (f footprint) String() string {
	return fmt.Sprintf("heap %.2f MB, resident %.1f MB, %d goroutines, %d files, journal %d kB",
		float64(f.heap)/1e6, float64(f.resident)/1e6, f.goroutines, f.files, f.journal/1000)
}

func (s *station) footprint() (f footprint) {
	s.w.T.Helper()
	await.Until(s.w.T, "no stream is open", func() bool { return s.target.inside() == 0 })
	f.heap, f.goroutines = usage()
	debug.FreeOSMemory()
	raw, err := os.ReadFile("/proc/self/statm")
	require.NoError(s.w.T, err)
	pages, err := strconv.ParseUint(string(bytes.Fields(raw)[1]), 10, 64)
	require.NoError(s.w.T, err)
	f.resident = pages * uint64(os.Getpagesize())
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(s.w.T, err)
	f.files = len(open)
	require.NoError(s.w.T, filepath.WalkDir(filepath.Join(s.dir, "journal"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			f.journal += info.Size()
		}
		return err
	}))
	return f
}

// TestSessions_TenThousand_NothingGrows: a token goes round among eight members, each of which has a session with a stream in it. What the gate and the members'
// clients hold after 10,000 sessions they have held after 1,000.
func TestSessions_TenThousand_NothingGrows(t *testing.T) {
	const members, perSession = 8, 400 // bytes of the journal
	all := whole.Part(200, 10_000)
	first := all / whole.Part(2, 10)
	w := newWorld(t, members, func(r *group.Resource) {
		r.Gate.Settle, r.Gate.Keep, r.MaxHold = time.Millisecond, time.Millisecond, time.Minute
	})
	s := open(w, func(c *driver.Config) { c.Log = slog.New(slog.DiscardHandler) })
	var conns []*client.Conn
	for who := range members {
		conns = append(conns, s.dial(who))
	}
	held := w.Mint(0)
	var before footprint
	for n := 1; n <= all; n++ {
		who := (n - 1) % members
		session := w.SignIn(conns[who], held, time.Minute)
		gatetest.Opened(t, session)
		stream := connect(t, session)
		echoes(t, stream, "x")
		require.NoError(t, stream.Close())
		closed, err := session.SignOut(context.Background())
		require.NoError(t, err)
		require.Equal(t, core.ClosedAnswer{Session: closed.Session, Reason: core.BySignOut, Confirmed: true}, closed)
		held = w.Passed(held, who, (who+1)%members)
		if n%first == 0 {
			f := s.footprint()
			t.Logf("%d sessions: %v", n, f)
			if n == first {
				before = f
			}
		}
	}
	const slack = 256 << 10
	var after footprint
	await.Until(t, "no more memory, goroutines and files than before", func() bool { // those of the last session end after it
		after = s.footprint()
		return after.heap <= before.heap+slack && after.goroutines <= before.goroutines && after.files <= before.files
	})
	if whole.Asked() { // of its own process: what other tests leave, and the race detector, count, too
		assert.LessOrEqual(t, after.resident, before.resident+16*slack)
	}
	assert.LessOrEqual(t, after.journal, int64(all)*perSession, "it keeps 30 days or a gigabyte (package store)")
	st, err := s.Status(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, all, st.Counts["sessions"])
}
