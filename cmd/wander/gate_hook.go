package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node/boottime"
	core "github.com/wandertoken/wander/protocol/gate"
)

// leftoverFor is how long a gate that starts waits for the hooks of the process before it: their guards end them at once.
const leftoverFor = 30 * time.Second

// gateHooks runs a gate's hooks under guards, as wander run runs its commands: they die with the gate, with all that they have started.
type gateHooks struct {
	dir string // of the marks: one file for each hook that runs
	log *slog.Logger
}

// hook is one of the shell commands.
func (h gateHooks) hook(name, command string) driver.Hook {
	return func(ctx context.Context, c driver.Call) core.Result {
		r, err := h.run(ctx, name, command, c)
		if err != nil {
			h.log.Error("cannot run a hook", "hook", name, "slot", c.Slot, "error", err)
		}
		return r
	}
}

func (h gateHooks) run(ctx context.Context, name, command string, c driver.Call) (core.Result, error) {
	mark := filepath.Join(h.dir, strconv.Itoa(c.Slot)+"-"+name)
	defer os.Remove(mark)
	result, err := guardedHook{
		command: supervise.Command{Path: "/bin/sh", Args: []string{"sh", "-c", command}, Env: append(os.Environ(), gateVariables(c)...)},
		limit:   c.Timeout, log: h.log.With("hook", name, "slot", c.Slot, "session", c.Session), says: c.Says,
		// The mark is there before the hook runs. It says in which boot: in another one its numbers are those of strangers.
		ready: func(guard *supervise.Guard) error {
			return errors.Join(os.MkdirAll(h.dir, 0o700), atomicfile.Replace(mark, append([]byte(boottime.ID()+"\n"), guard.Mark()...), 0o600))
		},
	}.run(ctx)
	switch {
	case err != nil:
		return core.Failed, err
	case result.Stopped == supervise.ByDeadline:
		return core.TimedOut, nil
	case result.Stopped != supervise.NotStopped || exitCode(result) != 0:
		return core.Failed, nil
	}
	return core.Succeeded, nil
}

// gateVariables are what a hook learns of its session.
func gateVariables(c driver.Call) []string {
	list := []string{
		"WANDER_GATE_FENCE=" + strconv.FormatUint(c.Session, 10), "WANDER_GATE_SLOT=" + strconv.Itoa(c.Slot),
		"WANDER_GATE_MEMBER=", "WANDER_GATE_TOKEN=", "WANDER_GATE_DEADLINE=",
	}
	if !c.Member.IsZero() {
		list[2], list[3] = list[2]+c.Member.String(), list[3]+c.Token.String()
	}
	if !c.Deadline.IsZero() {
		list[4] += c.Deadline.UTC().Format(time.RFC3339Nano)
	}
	return list
}

// await waits until no hook of an earlier process runs, and kills what its guards have left.
func (h gateHooks) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leftoverFor)
	defer cancel()
	entries, _ := os.ReadDir(h.dir) // that is not there has none
	for _, e := range entries {
		name := filepath.Join(h.dir, e.Name())
		text, err := os.ReadFile(name)
		if boot, mark, _ := bytes.Cut(text, []byte("\n")); err == nil && string(boot) == boottime.ID() {
			err = supervise.AwaitGone(ctx, mark)
		}
		if err != nil && !errors.Is(err, supervise.ErrMark) { // a file that was cut short is of a hook that did not run
			return fmt.Errorf("a hook of an earlier process still runs: %s: %w", name, err)
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
