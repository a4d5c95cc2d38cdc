package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/wandertoken/wander/internal/configfile"
)

// Exit codes, after sysexits.h where it has one. `wander run` adds the exit
// code of its child.
const (
	ExitOK            = 0
	ExitFailure       = 1  // anything that has no code of its own
	ExitUsage         = 64 // the command line
	ExitSuspicion     = 65 // the journals raise suspicions, and prove nothing
	ExitUnavailable   = 69 // no daemon, or cut off from every peer and not holding
	ExitBug           = 70
	ExitSystem        = 71 // the operating system starts no process, or not in time
	ExitNotGranted    = 75 // not granted in time
	ExitLost          = 76 // the grant was lost while the command ran
	ExitNoPermission  = 77 // own certificate expired, or the configuration refuses
	ExitConfiguration = 78
	ExitGone          = 79  // the member has left or was revoked: no restart mends that
	ExitSignal        = 128 // plus the signal's number
)

// Error is an error with the exit code that it ends the program with.
type Error struct {
	Code int
	Err  error
	Hint string // what to do, one line; may be empty
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// UsageError returns an error about the command line.
func UsageError(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// ConfigError returns an error about a file or setting.
func ConfigError(err error, hint string) error {
	return &Error{Code: ExitConfiguration, Err: err, Hint: hint}
}

// complain prints an error for a person, and returns the exit code.
func complain(w io.Writer, err error) int {
	var exit *Error
	code, hint := ExitFailure, ""
	if errors.As(err, &exit) {
		code, hint = exit.Code, exit.Hint
	}
	var file *configfile.Error
	if errors.As(err, &file) {
		hint = file.Hint
		if exit == nil {
			code = ExitConfiguration
		}
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "error: %s\n", OneLine(text))
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", OneLine(hint))
	}
	return code
}

// DidYouMean returns a hint that names the known word nearest to another one, ""
// if none is near.
func DidYouMean(word string, known []string) string {
	if near := configfile.Nearest(strings.ToLower(word), known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Warn prints a warning for a person.
func Warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "warning: %s\n", OneLine(fmt.Sprintf(format, args...)))
}

// OneLine replaces what would break text from elsewhere out of its line.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}
