//go:build unix

package main

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/clock"
)

// TestOperation_AnyTrouble_LogNamesTheResource: a daemon's log has several resources
// in it, and those of several daemons.
func TestOperation_AnyTrouble_LogNamesTheResource(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	for name, c := range map[string]struct{ text, says string }{
		"exit status": {"#!/bin/sh\nexit 3\n", `msg="operation ended badly" resource=tape exit=3`},
		"signal":      {"#!/bin/sh\nkill -KILL $$\n", `msg="operation ended badly" resource=tape exit=-1 signal=killed`},
		"no program":  {"#!/nowhere/interpreter\n", `msg="operation not started" resource=tape`},
	} {
		t.Run(name, func(t *testing.T) {
			writeExecutable(t, program, []byte(c.text), 0o700)
			var log bytes.Buffer
			s := defaultSettings()
			s.Operation.Resource, s.Operation.Command = "tape", []string{program}
			operation, err := s.operation(&environment{}, slog.New(slog.NewTextHandler(&log, nil)))
			require.NoError(t, err)
			operation.Run(context.Background(), api.Grant{Resource: "tape", DeadlineBoot: clock.Never})
			assert.Contains(t, log.String(), c.says)
			for line := range strings.Lines(log.String()) {
				assert.Contains(t, line, "resource=tape")
			}
		})
	}
}
