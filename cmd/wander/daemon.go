package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// daemonPatience bounds the wait for a daemon that does not answer.
const daemonPatience = 10 * time.Second

// silentSoon is after what time people are told that a daemon has not answered: longer than one on a busy machine takes, and before they
// wonder.
const silentSoon = 1500 * time.Millisecond

// errSilent says that a daemon took the question, and no answer came. It may well run.
var errSilent = fmt.Errorf("the daemon has not answered for %v", daemonPatience)

// patiently bounds the wait for a daemon's answer.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, daemonPatience, errSilent)
}

// tellSilent tells people on w, unless stop is called before, that the daemon does not answer and that the command waits. Nothing is
// written after stop.
func tellSilent(w io.Writer) (stop func()) {
	told := make(chan struct{})
	timer := time.AfterFunc(silentSoon, func() {
		defer close(told)
		fmt.Fprintf(w, "wander: the daemon has not answered for %v; waiting for %v more [%s]\n", silentSoon, daemonPatience-silentSoon, explain.DaemonSilent)
	})
	return func() {
		if !timer.Stop() {
			<-told
		}
	}
}

// daemonCommand makes cmd a command that asks the local daemon: run gets the path
// of its socket.
func daemonCommand(env *environment, cmd *cobra.Command, run func(socket string) error) *cobra.Command {
	var socket string
	addSocketFlag(cmd.Flags(), &socket)
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(*cobra.Command, []string) error {
		path, err := socketPath(env, socket)
		if err != nil {
			return err
		}
		return hintAtLastWord(env, path, run(path))
	}
	return cmd
}

// showCommand is daemonCommand for one that shows what it is told, as text or JSON.
func showCommand(env *environment, cmd *cobra.Command, show func(socket string, asJSON bool) error) *cobra.Command {
	var output string
	cli.AddOutputFlag(cmd, &output)
	return daemonCommand(env, cmd, func(socket string) error {
		if err := cli.CheckOutput(output); err != nil {
			return err
		}
		return show(socket, output == "json")
	})
}

// askDaemon calls the daemon behind a socket, within a time that nobody loses
// patience in, and gives a failure its exit code.
func askDaemon(socket string, ask func(context.Context, *api.Client) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, cancel := patiently(ctx)
	defer cancel()
	if err := ask(ctx, api.Dial(socket)); err != nil {
		code := cli.ExitUnavailable
		if errors.Is(err, api.ErrRefused) {
			code = cli.ExitNoPermission
		}
		return &cli.Error{Code: code, Err: err, Hint: unansweredHint(socket, err)}
	}
	return nil
}

// inquire is askDaemon for a question that a daemon answers at once: people are told soon if it does not.
func inquire(env *environment, socket string, ask func(context.Context, *api.Client) error) error {
	defer tellSilent(env.Err)()
	return askDaemon(socket, ask)
}

// unansweredHint says what to do when a daemon does not do what it was asked.
func unansweredHint(socket string, err error) string {
	if info, err := os.Stat(socket); err == nil && info.Mode().Type() != os.ModeSocket {
		return socket + " is not a socket: give --socket the wander.sock in the daemon's state_dir"
	}
	var e *api.Error
	if errors.As(err, &e) && e.Hint != "" {
		return e.Hint
	}
	if errors.Is(err, errSilent) {
		return "it may hang, or be stopped: look at its log, the load and the disk before you start it again"
	}
	return api.StartHint
}
