package api

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// AcquireRequest is a demand for a resource. Only Resource must be set.
type AcquireRequest struct {
	Resource string `json:"resource"`
	// WaitMS is how long to wait for the token, in milliseconds: nil is without limit,
	// 0 is now or never.
	WaitMS *int64 `json:"wait_ms,omitempty"`
	// MaxHoldMS asks for a shorter grant than the resource permits, in
	// milliseconds; 0 leaves it at what the resource permits.
	MaxHoldMS int64 `json:"max_hold_ms,omitempty"`
	// MinHoldMS keeps the token at this member for so long after the grant
	// even when the release comes earlier, in milliseconds.
	MinHoldMS int64 `json:"min_hold_ms,omitempty"`
	// OncePerMS asks for a grant only if the resource's operation has not run
	// for so long anywhere in the group, as far as the token tells, in
	// milliseconds; 0 asks always.
	OncePerMS int64 `json:"once_per_ms,omitempty"`
	// Held are the grants that the asking program runs under itself, at any
	// daemon. The demand is refused with ErrHeld if one of them is in force for
	// this resource at this member: the program would wait for its own end.
	Held []ident.Grant `json:"held,omitempty"`
	// Progress asks for events while the program waits. The answer is then a stream from the beginning.
	Progress bool `json:"progress,omitempty"`
	// AcrossReboot asks for a grant that lasts across a restart of the machine.
	AcrossReboot bool `json:"across_reboot,omitempty"`
	// Label and PID show people who waits or holds. They decide nothing.
	Label string `json:"label,omitempty"`
	PID   int    `json:"pid,omitempty"`
	// Asker is set by the server: it is what the system says of the process that has connected.
	Asker *Asker `json:"-"`
}

// Validate refuses with ErrBadRequest what no daemon could serve. Whether the
// resource exists and permits the times is the backend's business.
func (r AcquireRequest) Validate() error {
	if n := len(r.Resource); n == 0 || n > maxResource {
		return fmt.Errorf("%w: resource of %d bytes, permitted are 1 to %d", ErrBadRequest, n, maxResource)
	}
	if n := len(r.Label); n > MaxLabel {
		return fmt.Errorf("%w: label of %d bytes, permitted are 0 to %d", ErrBadRequest, n, MaxLabel)
	}
	if n := len(r.Held); n > MaxHeld {
		return fmt.Errorf("%w: %d grants held, permitted are 0 to %d", ErrBadRequest, n, MaxHeld)
	}
	var wait int64
	if r.WaitMS != nil {
		wait = *r.WaitMS
	}
	for _, f := range []struct {
		name string
		ms   int64
	}{
		{"wait_ms", wait}, {"max_hold_ms", r.MaxHoldMS}, {"min_hold_ms", r.MinHoldMS}, {"once_per_ms", r.OncePerMS},
	} {
		if f.ms < 0 || f.ms > maxMillis {
			return fmt.Errorf("%w: %s is %d, permitted are 0 to %d", ErrBadRequest, f.name, f.ms, maxMillis)
		}
	}
	return nil
}

// maxMillis is the longest time that a time.Duration holds.
const maxMillis = int64(1<<63-1) / int64(time.Millisecond)

// Wait is how long to wait; false means without limit.
func (r AcquireRequest) Wait() (time.Duration, bool) {
	if r.WaitMS == nil {
		return 0, false
	}
	return time.Duration(*r.WaitMS) * time.Millisecond, true
}

// MaxHold is the longest grant asked for, 0 when none is named.
func (r AcquireRequest) MaxHold() time.Duration { return time.Duration(r.MaxHoldMS) * time.Millisecond }

// MinHold is how long to keep the token at least.
func (r AcquireRequest) MinHold() time.Duration { return time.Duration(r.MinHoldMS) * time.Millisecond }

// OncePer is how long ago the last operation must be at least.
func (r AcquireRequest) OncePer() time.Duration { return time.Duration(r.OncePerMS) * time.Millisecond }

// Grant is the permission to use a resource until a deadline.
type Grant struct {
	ID       ident.Grant  `json:"id"`
	Resource string       `json:"resource"`
	Member   ident.Member `json:"member"`
	Name     string       `json:"name"` // the member's
	Token    ident.Token  `json:"token"`
	Hop      uint64       `json:"hop"`
	// Fence grows with each hop of the token, and from a token to each later one:
	// token.Fence. Two grants of one stay at one member have the same. It is a string
	// in JSON, where numbers above 2^53 are not safe with every reader.
	Fence uint64 `json:"fence,string"`
	// GateFence is the number of the session at the resource's gate: it grows from session to session, whatever
	// token they are under. 0 if the resource has no gate.
	GateFence uint64 `json:"gate_fence,string,omitempty"`
	// Deadline is for people and for programs that cannot read DeadlineBoot.
	Deadline time.Time `json:"deadline"`
	// DeadlineBoot is the deadline itself, in nanoseconds of the clock that
	// BootID names: package boottime.
	DeadlineBoot clock.Instant `json:"deadline_boot_ns"`
	BootID       string        `json:"boot_id,omitempty"`
	// Permit is the encoded permit of this custody: package permit. It is evidence, and
	// holds no secret. It is empty if the member could not build one.
	Permit []byte `json:"permit,omitempty"`
	// ReturnS is after how many seconds from now the member expects its next grant of the resource to begin: in half of all cases
	// no later; of ReturnP95S, in 19 of 20. They are nil while it has had too few to tell: package forecast.
	ReturnS    *float64 `json:"return_s,omitempty"`
	ReturnP95S *float64 `json:"return_p95_s,omitempty"`
}

// LostReason says why a grant ended before its deadline.
type LostReason string

// Reasons for which a grant is lost. A client must take any other text for a
// reason that came later.
const (
	LostRevoked       LostReason = "revoked"       // the member's certificate was revoked
	LostExpired       LostReason = "expired"       // the member's certificate ran out
	LostConfiguration LostReason = "configuration" // the resource is no more, or not for this member
	LostStopped       LostReason = "stopped"       // the daemon stops, or its journal failed
	LostGate          LostReason = "gate"          // its session at the resource's gate has ended
)

// ReleaseRequest ends a grant.
type ReleaseRequest struct {
	Grant ident.Grant `json:"grant"`
	// Operated says whether the resource was used at all, Exit how the command
	// that used it ended (0 when it was not a command).
	Operated bool `json:"operated"`
	Exit     int  `json:"exit"`
	// SeenFrom and SeenTo are when the program was seen running first and last:
	// so auditors know for certain that it ran. Both are 0 if that is not known.
	SeenFrom clock.Instant `json:"seen_from_boot_ns,omitempty"`
	SeenTo   clock.Instant `json:"seen_to_boot_ns,omitempty"`
}

// backRequest ends the grants of a resource that last across a restart of the machine.
type backRequest struct {
	Resource string `json:"resource"`
}

// backAnswer is the answer to it.
type backAnswer struct {
	V     int `json:"v"` // set by the server
	Ended int `json:"ended"`
}

// The events of an acquire stream.
const (
	eventGranted = "granted"
	eventLost    = "lost"
	eventWaiting = "waiting" // of Progress
	eventRefused = "refused" // of Progress: there is no grant
)

// Waiting is what a program waits for.
type Waiting struct {
	Cause    Cause    `json:"cause"`
	Sentence string   `json:"sentence"`
	P50S     *float64 `json:"p50_s"` // nil: nothing can be predicted
	P95S     *float64 `json:"p95_s"`
	Before   *int     `json:"before_you"` // members that have waited longer; nil: not known
}

type event struct {
	V      int        `json:"v"`
	Event  string     `json:"event"`
	Grant  *Grant     `json:"grant,omitempty"`
	Reason LostReason `json:"reason,omitempty"`
	Error  *Error     `json:"error,omitempty"`
	*Waiting
}

type failure struct {
	V     int    `json:"v"`
	Error *Error `json:"error"`
}

type acknowledgement struct {
	V int `json:"v"`
}
