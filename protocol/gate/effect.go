package gate

import "github.com/wandertoken/wander/protocol/clock"

// Effect is one thing to be done. A driver performs the effects in their order, and a crash may come between any two.
type Effect interface{ effect() }

// Persist appends a record to the gate's journal. All up to one with Sync is durable before the next effect. One without Sync is durable before the next
// effect that reaches the resource: a hook that does something, or a session's first stream. It is durable, too, before the next input, but for the end of
// an open hook that does nothing. Only answers may leave before, so that no member waits for a disk.
type Persist struct {
	At     uint64 // wall clock, µs since 1970
	Record Record
	Sync   bool
}

// RunOpen starts the open hook, in a control group of its own, which is killed with all in it when the timeout is
// over. Session is WANDER_GATE_FENCE.
type RunOpen struct {
	Run      uint64
	Slot     int
	Session  uint64
	Title    Title
	Deadline clock.Instant // of the session, for a dead man's switch in the kernel
}

// RunClose severs the session's connection, kills what is left of the slot's open hook and close hook, and then starts the
// close hook. It succeeds if work has ended. Session 0 is whatever there may be.
type RunClose struct {
	Run     uint64
	Slot    int
	Session uint64
}

// Say answers a sign-in. The driver signs the answer with the gate's key.
type Say struct {
	To     Connection
	Number uint64 // of the sign-in
	Answer Answer
}

// Alarm calls the operator.
type Alarm struct {
	Kind    string // stable, a metric label
	Slot    int    // 0 if the alarm is about no slot
	Session uint64
}

// The kinds of alarms.
const (
	AlarmStuck         = "stuck"         // a close hook has failed, or a start has found such a slot
	AlarmSlowClose     = "slow_close"    // a close hook has run for SlowClose, once for each run: nothing opens meanwhile
	AlarmOpenFailed    = "open_failed"   // an open hook has failed
	AlarmConfiguration = "configuration" // a newer configuration cannot be used: members that go by it are refused
	AlarmClock         = "clock"         // members show tokens of the future: the gate's clock may be behind
	AlarmRevocations   = "revocations"   // more revocations than the gate can remember: all members are refused
)

// Fetch asks for a configuration of this version, or a newer one. The member on the connection goes by it.
type Fetch struct {
	Version uint64
	From    Connection
}

func (Persist) effect()  {}
func (RunOpen) effect()  {}
func (RunClose) effect() {}
func (Say) effect()      {}
func (Alarm) effect()    {}
func (Fetch) effect()    {}
