package supervise

import (
	"context"
	"errors"
)

// ErrMark is for systems where a command outlives the process that started it.
var ErrMark = errors.New("not the mark of a guard")

// Mark is empty on Windows: a command dies with the process that started it.
func (*Guard) Mark() []byte { return nil }

// AwaitGone does nothing on Windows.
func AwaitGone(context.Context, []byte) error { return nil }
