// Package takeover opens what the process before may still have: a process that is
// killed keeps its locks and sockets until the system has taken it apart.
package takeover

import (
	"context"
	"errors"
	"time"
)

// maxWait bounds the wait for a process that is ending. A member of 30 MB takes
// milliseconds to be taken apart, and on a machine with too little processor or a
// core dump to write some hundred. A daemon that runs already is reported after as
// much, so a longer wait would only hold up people.
const maxWait = 2 * time.Second

// pause is between two attempts. Each is a few system calls.
const pause = 10 * time.Millisecond

// Open calls open until it returns something else than one of the errors that say
// that somebody has it already, at most for maxWait or until ctx ends, and returns
// what open has returned last.
func Open[T any](ctx context.Context, open func() (T, error), taken ...error) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		opened, err := open()
		if !isOneOf(err, taken) {
			return opened, err
		}
		select {
		case <-ctx.Done():
			return opened, err
		case <-time.After(pause):
		}
	}
}

func isOneOf(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
