package main

import (
	"bufio"
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
)

const (
	// maxHookLine bounds a line that a hook writes into the log, in bytes.
	maxHookLine = 4 << 10

	// maxHookLines bounds the lines of one run: what a person reads of a script that fails, and no more than a full queue
	// of hooks may put into a log of some megabytes.
	maxHookLines = 200

	// outputSlack is how long a hook that has ended is read: what it has written is in the pipe already.
	outputSlack = time.Second
)

// guardedHook is one run of a hook under guards, as wander run runs its commands: it dies with this program, with all that it has started.
type guardedHook struct {
	command supervise.Command
	limit   time.Duration
	log     *slog.Logger      // says which hook
	says    func(line string) // what it writes, each line; nil: nobody wants it
	// ready is called before the hook runs; an error keeps it from running. It may be nil.
	ready func(*supervise.Guard) error
}

// run runs the hook to its end. Its output goes to the log.
func (h guardedHook) run(ctx context.Context) (supervise.Result, error) {
	if err := ctx.Err(); err != nil {
		return supervise.Result{}, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return supervise.Result{}, err
	}
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		h.read(out)
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
		return supervise.Result{}, err
	}
	defer guard.Close()
	if err := ctx.Err(); err != nil { // the start may take long
		return supervise.Result{}, err
	}
	if h.ready != nil {
		if err := h.ready(guard); err != nil {
			return supervise.Result{}, err
		}
	}
	lost := make(chan api.LostReason, 1)
	defer context.AfterFunc(ctx, func() { lost <- "nobody waits for it any more" })()
	return supervise.Run(h.command, guard, supervise.Options{
		Deadline: boottime.Now().Add(h.limit), Lost: lost, OnLost: supervise.LostKill, Losing: "killed",
		Warn: func(text string) { h.log.Warn("hook: " + text) },
	})
}

// read logs what a hook writes.
func (h guardedHook) read(out *os.File) {
	defer out.Close()
	in := bufio.NewReaderSize(out, maxHookLine)
	for lines := 0; ; lines++ {
		line, more, err := in.ReadLine()
		if h.says != nil && len(line) > 0 {
			h.says(string(line))
		}
		switch {
		case lines == maxHookLines && len(line) > 0:
			h.log.Warn("hook says more than is logged", "lines", maxHookLines)
		case lines < maxHookLines && len(line) > 0:
			h.log.Info("hook says", "line", string(line), "cut", more)
		}
		for more && err == nil { // the rest of a line that is too long
			_, more, err = in.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
