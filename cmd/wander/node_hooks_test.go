//go:build unix

package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// script writes an executable, and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook")
	writeExecutable(t, path, []byte("#!/bin/sh\n"+text), 0o700)
	return path
}

// A file that another user could replace does not run with the daemon's rights.
func TestHooks_Unsafe_Refused(t *testing.T) {
	safe, err := filepath.EvalSymlinks(script(t, "exit 0"))
	require.NoError(t, err)
	dir := filepath.Dir(safe)
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(safe, link))
	loose := script(t, "exit 0")
	require.NoError(t, os.Chmod(loose, 0o720))
	open := script(t, "exit 0")
	require.NoError(t, os.Chmod(filepath.Dir(open), 0o777))
	openLink := filepath.Join(filepath.Dir(open), "link")
	require.NoError(t, os.Symlink(safe, openLink))
	through := filepath.Join(dir, "through") // a folder of others is between two that are ours
	require.NoError(t, os.Symlink(openLink, through))
	require.NoError(t, os.Symlink(dir, filepath.Join(filepath.Dir(open), "folder")))
	throughFolder := filepath.Join(dir, "folder")
	require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(open), "folder"), throughFolder))
	near, loop := filepath.Join(dir, "near"), filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink("./../"+filepath.Base(dir)+"//link", near))
	require.NoError(t, os.Symlink("loop", loop))
	plain := script(t, "exit 0")
	require.NoError(t, os.Chmod(plain, 0o600))
	for path, want := range map[string]error{
		safe: nil, link: nil, near: nil, loop: errHookFile, through: errHookOwner, filepath.Join(throughFolder, "hook"): errHookOwner, "hook": errHookPath, "./hook": errHookPath, filepath.Join(dir, "none"): errHookFile, dir: errHookFile, plain: errHookFile,
		loose: errHookOwner, open: errHookOwner, openLink: errHookOwner,
	} {
		real, err := checkHook(path)
		if assert.ErrorIs(t, err, want, path); want == nil {
			assert.Equal(t, safe, real, "what runs, by way of %s", path)
		}
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Lchown(link, 4711, 0))
		_, err := checkHook(link)
		require.ErrorIs(t, err, errHookOwner, "another user's link")
		require.NoError(t, os.Chown(safe, 4711, 0))
		_, err = checkHook(safe)
		require.ErrorIs(t, err, errHookOwner, "of another user")
	}

	s := defaultSettings()
	s.Hooks.OnLost = loose
	_, err = s.hooks(certificate.Certificate{}, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "hooks.on_lost: "+loose+" is not safe: "+loose+": others than root and the daemon's user can change it")
}

// A hook's outcome is known, and what it writes is logged, as far as anybody reads.
func TestHooks_EachEnd_Outcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want hooks.Outcome
		log  string
		not  string
	}{
		"good":   {"echo said; echo more >&2", hooks.OK, "line=said", "hook failed"},
		"bad":    {"exit 3", hooks.Failed, "hook failed", "hook killed"},
		"killed": {"kill -KILL $$", hooks.Failed, "hook failed", "hook killed"},
		"talks":  {"seq 1000", hooks.OK, "hook says more than is logged", "line=201"},
		"enough": {"seq 200", hooks.OK, "line=200", "more than is logged"},
		"long":   {"head -c 100000 /dev/zero | tr '\\0' x", hooks.OK, "cut=true", strings.Repeat("x", maxHookLine+1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log safeBuffer
			got := runHook(t.Context(), script(t, c.text), nil, slog.New(slog.NewTextHandler(&log, nil)))
			assert.Equal(t, c.want, got)
			assert.Contains(t, log.String(), c.log)
			assert.NotContains(t, log.String(), c.not)
		})
	}
	// A daemon that ends ends its hook, and all that this has started.
	ctx, cancel := context.WithCancel(t.Context())
	var log safeBuffer
	ended := make(chan hooks.Outcome)
	go func() {
		ended <- runHook(ctx, script(t, "sleep 1000 & echo up; sleep 1000"), nil, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	await.Until(t, "it runs", func() bool { return strings.Contains(log.String(), "line=up") })
	cancel()
	assert.Equal(t, hooks.Failed, await.Next(t, "its end", ended))
	assert.Contains(t, log.String(), "killed: nobody waits for it any more")
	assert.NotContains(t, log.String(), "grant")
	var after safeBuffer
	assert.Equal(t, hooks.Failed, runHook(ctx, script(t, "echo up"), nil, slog.New(slog.NewTextHandler(&after, nil))))
	assert.Contains(t, after.String(), "hook not run", "one that has not begun does not begin")
}

// A real member runs its hooks: of a grant, of its loss, and of isolation.
func TestHooks_RealMember_Run(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Its file is there as a whole, or not at all.
	path := script(t, `cd "`+dir+`" && env | grep ^WANDER_ >"$$.part" && mv "$$.part" "$WANDER_HOOK.$WANDER_REASON"`)
	s := defaultSettings()
	s.Hooks = hookSettings{OnGrant: path, OnLost: path, OnIsolated: path}
	var log safeBuffer
	f := newFault(t, func(r *group.Resource) { r.MaxHold = time.Hour }) // the program does not reach its deadline first
	withHooks := func(cfg *node.Config, _ *certificate.Claims) {
		var err error
		cfg.Hooks, err = s.hooks(cfg.Certificate, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
	}
	a := f.daemon(withHooks)
	b := f.daemon(nil)
	f.meets(a)
	wrote := func(name string) (text string) {
		await.Until(t, name, func() bool {
			b, err := os.ReadFile(filepath.Join(dir, name))
			text = string(b)
			return err == nil
		})
		return text
	}
	held, err := a.Acquire(t.Context(), api.AcquireRequest{Resource: gatetest.Resource})
	require.NoError(t, err)
	g := held.Grant()
	granted := wrote("on_grant.")
	assert.Contains(t, granted, "WANDER_RESOURCE="+g.Resource+"\n")
	assert.Contains(t, granted, "WANDER_TOKEN="+g.Token.String()+"\n")
	assert.Contains(t, granted, "WANDER_DEADLINE="+g.Deadline.UTC().Format(time.RFC3339Nano)+"\n")
	f.crash(b)
	assert.Contains(t, wrote("on_isolated.begun"), "WANDER_RESOURCE=\n")
	f.crash(a)
	assert.Contains(t, wrote("on_lost.stopped"), "WANDER_RESOURCE="+g.Resource+"\n")
	assert.NotContains(t, log.String(), "hook failed")
}

// Two members that have made a token each find that out, and the one that drops its token is told.
func TestHooks_TwoTokens_DuplicateTold(t *testing.T) {
	t.Parallel()
	seen := make(chan hooks.Event, 16)
	found := func(cfg *node.Config, _ *certificate.Claims) {
		cfg.Found = true
		cfg.Hooks = map[hooks.Kind]hooks.Run{hooks.Duplicate: func(_ context.Context, e hooks.Event) hooks.Outcome {
			seen <- e
			return hooks.OK
		}}
	}
	f := newFault(t, nil)
	a, b := f.daemon(found), f.daemon(found)
	f.meets(a)
	ctx, cancel := context.WithCancel(t.Context())
	var turns sync.WaitGroup
	for _, n := range []*node.Node{a, b} {
		turns.Go(func() {
			for ctx.Err() == nil {
				if held, err := n.Acquire(ctx, api.AcquireRequest{Resource: gatetest.Resource}); err == nil {
					held.Release(true, 0)
				}
			}
		})
	}
	e := await.Next(t, "the event", seen)
	cancel() // both tokens may be gone by now: each member may have dropped the other's
	turns.Wait()
	assert.Equal(t, gatetest.Resource, e.Resource)
	assert.NotZero(t, e.Token)
	assert.WithinDuration(t, time.Now(), e.At, time.Hour)
}

// The variables of an event that has nothing to do with a token are empty.
func TestHookVariables_Evidence_OnlyIts(t *testing.T) {
	list := hookVariables(hooks.Event{Kind: hooks.Evidence, At: time.Unix(0, 0), Reason: "two transfers of one hop", About: ident.Member{7}})
	text := strings.Join(list, "\n") + "\n"
	assert.Contains(t, text, "WANDER_HOOK=on_evidence\nWANDER_AT=1970-01-01T00:00:00Z\n")
	assert.Contains(t, text, "WANDER_REASON=two transfers of one hop\nWANDER_ABOUT="+ident.Member{7}.String()+"\n")
	for _, name := range []string{"RESOURCE", "TOKEN", "HOP", "FENCE", "DEADLINE", "HELD"} {
		assert.True(t, strings.Contains(text, "WANDER_"+name+"=\n"), name)
	}
	assert.Zero(t, bytes.Count([]byte(text), []byte("<nil>")))
}
