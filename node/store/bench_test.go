package store_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/journal"
)

// benchRecord is about the size of a held or sent record without certificates,
// in bytes.
const benchRecord = 700

func benchBody() []byte {
	body := make([]byte, benchRecord)
	_, _ = rand.Read(body)
	return body
}

// keepGoing rotates when it is time, with a live state of 100 records.
func keepGoing(b *testing.B, st *store.Store, body []byte) {
	if !st.NeedsCheckpoint() {
		return
	}
	live := make([][]byte, 100)
	for i := range live {
		live[i] = body
	}
	require.NoError(b, st.Checkpoint(live))
}

// BenchmarkBareSync is what BenchmarkSync costs at least: the same bytes, one
// write, one sync, nothing else.
func BenchmarkBareSync(b *testing.B) {
	for _, records := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			file, err := store.OS().Create(filepath.Join(b.TempDir(), "bare"))
			require.NoError(b, err)
			body := make([]byte, records*(benchRecord+journal.FrameOverhead))
			var end int64
			for b.Loop() {
				_, err = file.WriteAt(body, end)
				require.NoError(b, err)
				require.NoError(b, file.Sync())
				end += int64(len(body))
			}
			require.NoError(b, file.Close())
		})
	}
}

// BenchmarkSync is the cost of making 1, 8 and 64 records durable together.
func BenchmarkSync(b *testing.B) {
	for _, mode := range []store.Mode{store.Durable, store.Volatile} {
		for _, records := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%v/records=%d", mode, records), func(b *testing.B) {
				st, _, err := store.Open(b.TempDir(), store.Options{Mode: mode, RetainBytes: 64 << 20})
				require.NoError(b, err)
				body := benchBody()
				b.SetBytes(int64(records * benchRecord))
				for b.Loop() {
					for range records {
						_, _ = st.Append(body)
					}
					require.NoError(b, st.Sync())
					keepGoing(b, st, body)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*records), "µs/record")
				require.NoError(b, st.Close())
			})
		}
	}
}

// BenchmarkSyncTogether is the time per record when many goroutines each wait
// for their own: they share syncs.
func BenchmarkSyncTogether(b *testing.B) {
	for _, each := range []int{1, 4, 32} {
		b.Run(fmt.Sprintf("goroutines=%d", each*runtime.GOMAXPROCS(0)), func(b *testing.B) {
			st, _, err := store.Open(b.TempDir(), store.Options{SegmentSize: 1 << 30})
			require.NoError(b, err)
			body := benchBody()
			b.SetParallelism(each)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = st.Append(body)
					_ = st.Sync()
				}
			})
			require.NoError(b, st.Close())
		})
	}
}

// BenchmarkOpen is a restart with a full segment of the default size.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	st, _, err := store.Open(dir, store.Options{})
	require.NoError(b, err)
	body := benchBody()
	for !st.NeedsCheckpoint() {
		for range 64 {
			_, _ = st.Append(body)
		}
		require.NoError(b, st.Sync())
	}
	require.NoError(b, st.Close())
	for b.Loop() {
		st, _, err := store.Open(dir, store.Options{})
		require.NoError(b, err)
		require.NoError(b, st.Close())
	}
}

// BenchmarkCheckpoint is a rotation that carries 100 and 10,000 records.
func BenchmarkCheckpoint(b *testing.B) {
	for _, records := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			st, _, err := store.Open(b.TempDir(), store.Options{RetainBytes: 64 << 20})
			require.NoError(b, err)
			live := make([][]byte, records)
			for i := range live {
				live[i] = benchBody()
			}
			for b.Loop() {
				require.NoError(b, st.Checkpoint(live))
			}
			require.NoError(b, st.Close())
		})
	}
}
