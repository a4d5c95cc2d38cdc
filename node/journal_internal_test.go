package node

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// What need not be durable is written all the same before it fills the memory:
// a member that hears of a large group has no token to sync for meanwhile.
func TestRecords_WithoutSync_Written(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.Mode{store.Durable, store.Volatile} {
		st, _, err := store.Open(t.TempDir(), store.Options{
			Group: ident.Group{1}, Member: ident.Member{1}, Mode: mode, Log: slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		defer st.Close()
		k := &journalKeeper{store: st}
		known := effect.Persist{Record: &journal.Known{What: journal.KnownCertificate, Object: bytes.Repeat([]byte{1}, 4000)}}
		var effects []effect.Effect
		for range 64 {
			effects = append(effects, known)
		}
		for size := 0; size < 2*store.MaxBacklog; size += 64 * 4000 {
			require.NoError(t, k.write(effects), "%v after %d bytes", mode, size)
		}
	}
}
