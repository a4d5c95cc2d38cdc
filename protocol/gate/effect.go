package gate

import "github.com/wandertoken/wander/protocol/clock"

// Effect is one thing to be done. A driver performs the effects in their order, and a crash may come between any two.
type Effect interface{ effect() }

// Persist appends a record to the gate's journal. All up to one with Sync is durable before the next effect.
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

// Say answers on a connection. The driver signs the answer with the gate's key.
type Say struct {
	To     Connection
	Answer Answer
}

// Alarm calls the operator.
type Alarm struct {
	Kind    string // stable, a metric label
	Slot    int
	Session uint64
}

// Fetch asks for a configuration of this version, or a newer one.
type Fetch struct{ Version uint64 }

func (Persist) effect()  {}
func (RunOpen) effect()  {}
func (RunClose) effect() {}
func (Say) effect()      {}
func (Alarm) effect()    {}
func (Fetch) effect()    {}
