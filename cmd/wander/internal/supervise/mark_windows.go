package supervise

import "context"

// Mark is empty on Windows: a command dies with the process that started it.
func (*Guard) Mark() []byte { return nil }

// AwaitGone does nothing on Windows.
func AwaitGone(context.Context, []byte) error { return nil }
