package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/boottime"
	core "github.com/wandertoken/wander/protocol/gate"
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
		ctx, cancel := context.Background(), func() {}
		if want != nil {
			ctx, cancel = context.WithTimeout(ctx, 200*time.Millisecond)
		}
		assert.ErrorIs(t, h.await(ctx), want, boot)
		cancel()
	}
}

// A hook that has ended does not go on because a process of somebody else's has its output.
func TestHooks_OutputHeldElsewhere_Ends(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pid, held := filepath.Join(dir, "pid"), filepath.Join(dir, "held")
	h := gateHooks{dir: filepath.Join(dir, "hooks"), log: slog.New(slog.DiscardHandler)}
	ended := make(chan core.Result, 1)
	go func() {
		hook := h.hook("close", "echo $$ >"+pid+"; until test -e "+held+"; do sleep 0.02; done")
		ended <- hook(context.Background(), driver.Call{Timeout: time.Minute})
	}()
	var number string
	await.Until(t, "the hook runs", func() bool {
		text, _ := os.ReadFile(pid)
		number = strings.TrimSpace(string(text))
		return strings.HasSuffix(string(text), "\n")
	})
	output, err := os.OpenFile("/proc/"+number+"/fd/1", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer output.Close()
	require.NoError(t, os.WriteFile(held, nil, 0o600))
	assert.Equal(t, core.Succeeded, await.Next(t, "its end", ended))
}
