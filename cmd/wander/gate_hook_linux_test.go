package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/boottime"
)

// A gate waits for the hooks of an earlier process, but takes no process of this boot for a hook of an earlier one.
func TestHooks_MarkOfEarlierBoot_NotAwaited(t *testing.T) {
	stat, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	start := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[19]
	h := gateHooks{dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
	name := filepath.Join(h.dir, "0-close")
	for boot, want := range map[string]error{boottime.ID(): context.DeadlineExceeded, "an earlier one": nil} {
		text := fmt.Sprintf("%s\n{\"guards\":[{\"pid\":%d,\"start\":%s}]}", boot, os.Getpid(), start)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		assert.ErrorIs(t, h.await(ctx), want, boot)
		cancel()
	}
}
