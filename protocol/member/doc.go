// Package member is the machine that the drivers step: one member of a group,
// composed of its directory, its handoffs and the policies of every slot.
//
//	effects := m.Step(now, input)
//	deadline := m.NextDeadline() // call Step with a Tick then
//
// It is a pure function of its configuration, its seed and its inputs: the
// driver of a real daemon and the one of the simulator step the same code. The
// order of the effects is part of the protocol; see package effect.
//
// After a restart, Restore rebuilds the member from the records of its
// journal. A Member is not safe for concurrent use.
package member
