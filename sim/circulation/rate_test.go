package circulation_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

// BenchmarkHops is the journal's policy with one token and handoffs in no
// time: hops a second by the wall clock and by the processor's time, which
// is what counts on a busy machine, and memory for each member.
func BenchmarkHops(b *testing.B) {
	for _, n := range []int{100, 300, 1000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) { benchmarkHops(b, n) })
	}
}

func benchmarkHops(b *testing.B, n int) {
	params := paperTable1()
	params.MembersMax = n
	before := heap()
	w, err := circulation.New(circulation.Config{Policy: catalog.Wandering, Params: params, Members: n, Found: 1, Seed: 1})
	require.NoError(b, err)
	perMember := float64(heap()-before) / float64(n)
	round := 4 * time.Second * time.Duration(n)
	w.Run(clock.Instant(3 * round)) // to where every second token is early
	b.ReportAllocs()
	b.ResetTimer()
	hops, used := w.Stats().Hops, processorTime()
	for b.Loop() {
		w.Run(w.Now().Add(1000 * time.Second))
	}
	done := float64(w.Stats().Hops-hops) / 1e6
	b.ReportMetric(done/b.Elapsed().Seconds(), "Mhops/s")
	b.ReportMetric(done/(processorTime()-used).Seconds(), "Mhops/cpu-s")
	b.ReportMetric(perMember, "B/member")
	b.ReportMetric(mostResident()/1e6, "MB-most")
	runtime.KeepAlive(w)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
