package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Why a file may not be a hook.
var (
	errHookPath  = errors.New("must be an absolute path")
	errHookFile  = errors.New("is not an executable file")
	errHookOwner = errors.New("others than root and the daemon's user can change it")
)

// maxHookLinks bounds the links on the way to a hook: as many as Linux follows.
const maxHookLinks = 40

// of is the path of a hook's executable in the settings; empty: there is none.
func (h *hookSettings) of(kind hooks.Kind) string {
	switch kind {
	case hooks.Granted:
		return h.OnGrant
	case hooks.Lost:
		return h.OnLost
	case hooks.Isolated:
		return h.OnIsolated
	case hooks.Duplicate:
		return h.OnDuplicate
	case hooks.Evidence:
		return h.OnEvidence
	}
	return ""
}

// hooks turns the settings into what the node of a member runs.
func (s *settings) hooks(member certificate.Certificate, log *slog.Logger) (map[hooks.Kind]hooks.Run, error) {
	run := make(map[hooks.Kind]hooks.Run)
	for _, kind := range hooks.Kinds {
		path := s.Hooks.of(kind)
		if path == "" {
			continue
		}
		if _, err := checkHook(path); err != nil {
			return nil, cli.ConfigError(fmt.Errorf("hooks.%s: %s %w", kind, path, err), "name the absolute path of a program that only root or the daemon's user can change, in folders that only they can change")
		}
		run[kind] = func(ctx context.Context, e hooks.Event) hooks.Outcome {
			return runHook(ctx, path, append(hookVariables(e), "WANDER_MEMBER="+member.Member().String(), "WANDER_NAME="+member.Name(), socketVariable+"="+s.socket()), log.With("hook", string(kind)))
		}
	}
	return run, nil
}

// runHook runs the executable of a hook. It is checked again: the file may be another one than at the start.
func runHook(ctx context.Context, path string, variables []string, log *slog.Logger) hooks.Outcome {
	real, err := checkHook(path)
	if err != nil {
		log.Error("hook not run", "file", path, "error", err)
		return hooks.Failed
	}
	result, err := guardedHook{
		command: supervise.Command{Path: real, Args: []string{path}, Env: append(os.Environ(), variables...)},
		limit:   hooks.TimeLimit, log: log,
	}.run(ctx)
	switch {
	case err != nil:
		log.Error("hook not run", "file", path, "error", err)
	case result.Stopped == supervise.ByDeadline:
		log.Warn("hook killed: it took too long", "file", path, "limit", hooks.TimeLimit)
		return hooks.TimedOut
	case result.Stopped != supervise.NotStopped || exitCode(result) != 0:
		log.Warn("hook failed", "file", path, "exit", exitCode(result))
	default:
		return hooks.OK
	}
	return hooks.Failed
}

// hookVariables are what a hook learns of its event. Variables that do not belong to it are empty.
func hookVariables(e hooks.Event) []string {
	text := func(is bool, value string) string {
		if is {
			return value
		}
		return ""
	}
	return []string{
		"WANDER_HOOK=" + string(e.Kind), "WANDER_AT=" + e.At.UTC().Format(time.RFC3339Nano),
		"WANDER_RESOURCE=" + e.Resource, "WANDER_TOKEN=" + text(e.Token != (ident.Token{}), e.Token.String()),
		"WANDER_HOP=" + text(e.Token != (ident.Token{}), strconv.FormatUint(e.Hop, 10)),
		"WANDER_FENCE=" + text(e.Fence > 0, strconv.FormatUint(e.Fence, 10)),
		"WANDER_DEADLINE=" + text(!e.Deadline.IsZero(), e.Deadline.UTC().Format(time.RFC3339Nano)),
		"WANDER_REASON=" + e.Reason, "WANDER_ABOUT=" + text(!e.About.IsZero(), e.About.String()),
		heldVariable + "=", // a hook is within no grant
	}
}

// checkHook refuses what another user could have put into the place of a hook: the daemon runs it with its own rights. It looks at each
// folder and each link on the way, and returns the path without links that this leads to.
func checkHook(path string) (real string, err error) {
	if !filepath.IsAbs(path) {
		return "", errHookPath
	}
	at, left := rootOf(path)
	info, err := os.Lstat(at)
	for links := 0; ; {
		if err != nil {
			return "", fmt.Errorf("%w: %w", errHookFile, reasonOf(err))
		}
		if !isOurs(info) {
			return "", fmt.Errorf("is not safe: %s: %w", at, errHookOwner)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if links++; links > maxHookLinks {
				return "", fmt.Errorf("%w: more than %d links", errHookFile, maxHookLinks)
			}
			target, err := os.Readlink(at)
			if err != nil {
				return "", fmt.Errorf("%w: %w", errHookFile, reasonOf(err))
			}
			at = filepath.Dir(at)
			if filepath.IsAbs(target) {
				at, target = rootOf(target)
			}
			left = filepath.ToSlash(target) + "/" + left
		}
		if left = strings.TrimLeft(left, "/"); left == "" {
			break
		}
		var name string
		name, left, _ = strings.Cut(left, "/")
		at = filepath.Join(at, name)
		info, err = os.Lstat(at)
	}
	if !info.Mode().IsRegular() || !isExecutable(info) {
		return "", errHookFile
	}
	return at, nil
}

// rootOf is where an absolute path begins, and the rest of it, with slashes.
func rootOf(path string) (root, rest string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), filepath.ToSlash(path[len(volume):])
}

// reasonOf is the system's reason without the path, which the message has already.
func reasonOf(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}
