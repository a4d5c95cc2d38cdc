package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
)

// operation turns the configured command into what the node does each time it
// gets a token. The command is supervised as by `wander run`: it dies at its
// deadline even when the daemon has been killed.
func (s *settings) operation(env *environment, log *slog.Logger) (node.Operation, error) {
	if len(s.Operation.Command) == 0 {
		if s.Operation.Resource != "" {
			return node.Operation{}, cli.ConfigError(errors.New("operation.command must be set when operation.resource is"), "set operation.command, or remove operation.resource")
		}
		return node.Operation{}, nil
	}
	if s.Operation.MaxHold < 0 || s.Operation.Grace < 0 {
		return node.Operation{}, cli.ConfigError(errors.New("operation: max_hold and grace must not be negative"), "write 0 or a duration such as \"4s\"")
	}
	path, err := exec.LookPath(s.Operation.Command[0])
	if err != nil {
		return node.Operation{}, cli.ConfigError(fmt.Errorf("operation.command: %w", err), "give an installed program, or its full path")
	}
	if path, err = filepath.Abs(path); err != nil {
		return node.Operation{}, cli.ConfigError(err, "")
	}
	grace := s.Operation.Grace // 0: scaled with the grant
	held, err := readHeld(os.Getenv)
	if err != nil {
		return node.Operation{}, err
	}
	if s.Hooks == (hookSettings{}) {
		env.adopt() // the daemon starts nothing else
	}
	log = log.With("resource", s.Operation.Resource)
	run := func(ctx context.Context, g api.Grant) api.ReleaseRequest {
		file, err := writePermit(g.Permit)
		if err != nil {
			log.Warn("operation: no "+permitVariable, "error", err)
		}
		defer file.remove()
		environ := append(childEnviron(g, held, s.socket()), file.environ()...)
		return operateUnder(ctx, g, supervise.Command{Path: path, Args: s.Operation.Command, Env: environ}, grace, log)
	}
	return node.Operation{Resource: s.Operation.Resource, MaxHold: s.Operation.MaxHold, Run: run}, nil
}

func operateUnder(ctx context.Context, g api.Grant, command supervise.Command, grace time.Duration, log *slog.Logger) api.ReleaseRequest {
	var used api.ReleaseRequest
	guard, err := supervise.StartGuard(supervise.Streams{Stdout: os.Stdout, Stderr: os.Stderr}, supervise.ReadyTimeout)
	if err != nil {
		log.Error("operation not started: no guard", "error", err)
		return used
	}
	defer guard.Close()
	lost := make(chan api.LostReason, 1)
	stop := context.AfterFunc(ctx, func() { lost <- api.LostStopped })
	defer stop()
	result, err := supervise.Run(command, guard, supervise.Options{
		Deadline: g.DeadlineBoot, Grace: grace, Lost: lost,
		Warn: func(text string) { log.Warn("operation: " + text) },
	})
	if err != nil {
		log.Error("operation not started", "error", err)
		return used
	}
	if result.Exit != 0 || result.Signal != 0 {
		log.Warn("operation ended badly", "exit", result.Exit, "signal", result.Signal, "fence", g.Fence)
	}
	used.Operated, used.Exit = true, result.Exit
	used.SeenFrom, used.SeenTo = result.SeenFrom, result.SeenTo
	return used
}
