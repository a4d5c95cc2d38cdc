// Package wander lets a Go program use a resource that a group of machines shares. The machines pass a signed token to one another,
// with no server in between, and who holds the token may use the resource. The program asks the daemon of its own machine (`wander node`):
//
//	client := wander.Dial("") // $WANDER_SOCKET, or where a packaged daemon listens
//	err := client.Do(ctx, "tape", func(ctx context.Context, g wander.Grant) error {
//		return backup(ctx) // nobody else in the group uses the tape meanwhile
//	})
//
// # What a grant is
//
//	           Acquire             granted             Release, or the deadline
//	(nothing) ────────▶ waiting ──────────────▶ held ───────────────────────────▶ (over)
//	                       │ ctx ends             │ the daemon tells of a loss
//	                       ▼                      ▼
//	                   withdrawn              the context of the holder is cancelled
//
// A grant has a deadline, which the group's configuration bounds (max_hold). After it another member may use the resource, whatever
// this program does. So Do and [Held.Context] cancel their context before the deadline ([Margin]), with [ErrDeadline] as its cause
// ([context.Cause]). A grant can also be lost earlier, as when the machine's certificate is revoked: the cause is an error that is
// [ErrLost] then. A program MUST stop using the resource when the context is cancelled. Where it can be frozen, or may overlook that, have the
// resource check [Grant.Fence], or put a gate before it (docs/gate.md).
//
// A daemon that is restarted forgets neither who waits through this package nor a grant: Acquire asks again, and Release waits for the daemon.
//
// # Errors
//
// All errors are to be tested with [errors.Is]. Nothing was acquired if the error is [ErrNotGranted], [ErrNotDue], [ErrHeld], [ErrIsolated],
// [ErrRevoked], [ErrRefused] or [ErrUnavailable]. [Hint] is what an operator can do about one.
//
// # What it does not do
//
// It runs no member: that is `wander node`, or package node for a program that wants to be one. It starts and kills no other programs: that is
// `wander run`. It links the standard library and the clock that counts suspended time, and neither QUIC nor cryptography of its own.
// Programs in other languages speak the same HTTP and JSON on the same socket: spec/api.md.
//
// A [Client] is safe for concurrent use, and so is a [Held].
package wander
