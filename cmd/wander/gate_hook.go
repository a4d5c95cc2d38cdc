package main

import (
	"bufio"
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
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	core "github.com/wandertoken/wander/protocol/gate"
)

const (
	// maxHookLine bounds a line that a hook writes into the log, in bytes.
	maxHookLine = 4 << 10

	// outputSlack is how long a hook that has ended is read: what it has written is in the pipe already.
	outputSlack = time.Second

	// leftoverFor is how long a gate that starts waits for the hooks of the process before it: their guards end them at once.
	leftoverFor = 30 * time.Second
)

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
	out, theirs, err := os.Pipe()
	if err != nil {
		return core.Failed, err
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		h.read(out, name, c)
	}()
	defer func() {
		select {
		case <-logged:
		case <-time.After(outputSlack):
			out.Close() // somebody else has the other end
			<-logged
		}
	}()
	defer theirs.Close()
	guard, err := supervise.StartGuard(supervise.Streams{Stdout: theirs, Stderr: theirs}, supervise.ReadyTimeout)
	if err != nil {
		return core.Failed, err
	}
	defer guard.Close()
	// The mark is there before the hook runs. It says in which boot: in another one its numbers are those of strangers.
	mark := filepath.Join(h.dir, strconv.Itoa(c.Slot)+"-"+name)
	if err := errors.Join(os.MkdirAll(h.dir, 0o700), atomicfile.Replace(mark, append([]byte(boottime.ID()+"\n"), guard.Mark()...), 0o600)); err != nil {
		return core.Failed, err
	}
	defer os.Remove(mark)
	lost := make(chan api.LostReason, 1)
	defer context.AfterFunc(ctx, func() { lost <- "the gate does not wait for it any more" })()
	result, err := supervise.Run(supervise.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", command}, Env: append(os.Environ(), gateVariables(c)...),
	}, guard, supervise.Options{
		Deadline: boottime.Now().Add(c.Timeout), Lost: lost, OnLost: supervise.LostKill,
		Warn: func(text string) { h.log.Warn("hook: "+text, "hook", name, "slot", c.Slot) },
	})
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

// read logs what a hook writes.
func (h gateHooks) read(out *os.File, name string, c driver.Call) {
	defer out.Close()
	in := bufio.NewReaderSize(out, maxHookLine)
	for {
		line, more, err := in.ReadLine()
		if len(line) > 0 {
			if c.Says != nil {
				c.Says(string(line))
			}
			h.log.Info("hook says", "hook", name, "slot", c.Slot, "session", c.Session, "line", string(line), "cut", more)
		}
		for more && err == nil { // the rest of a line that is too long
			_, more, err = in.ReadLine()
		}
		if err != nil {
			return
		}
	}
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
