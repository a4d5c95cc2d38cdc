package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wandertoken/wander/internal/configfile"
)

// Exit codes, after sysexits.h where it has one. `wander run` adds the exit
// code of its child.
const (
	exitOK            = 0
	exitFailure       = 1  // anything that has no code of its own
	exitUsage         = 64 // the command line
	exitSuspicion     = 65 // the journals raise suspicions, and prove nothing
	exitUnavailable   = 69 // no daemon, or cut off from every peer and not holding
	exitBug           = 70
	exitSystem        = 71 // the operating system starts no process, or not in time
	exitNotGranted    = 75 // not granted in time
	exitLost          = 76 // the grant was lost while the command ran
	exitNoPermission  = 77 // own certificate expired or revoked, or the configuration refuses
	exitConfiguration = 78
)

// exitError is an error with the exit code that it ends the program with.
type exitError struct {
	code int
	err  error
	hint string // what to do, one line; may be empty
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is a mistake on the command line.
func usageError(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// configError is a mistake in a file or setting.
func configError(err error, hint string) error {
	return &exitError{code: exitConfiguration, err: err, hint: hint}
}

// complain prints an error for a person, and returns the exit code.
func complain(w io.Writer, err error) int {
	var exit *exitError
	code, hint := exitFailure, ""
	if errors.As(err, &exit) {
		code, hint = exit.code, exit.hint
	}
	var file *configfile.Error
	if errors.As(err, &file) {
		hint = file.Hint
		if exit == nil {
			code = exitConfiguration
		}
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "error: %s\n", oneLine(text))
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", oneLine(hint))
	}
	return code
}

// warn prints a warning for a person.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "warning: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// oneLine keeps what came from elsewhere from breaking out of its line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
