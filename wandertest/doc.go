// Package wandertest runs a group of members in memory, for tests of programs that use package wander. Time is virtual: an hour of waiting for the
// resource costs no waiting.
//
//	func TestBackup_MachineDies_AnotherOneGoesOn(t *testing.T) {
//		synctest.Test(t, func(t *testing.T) {
//			g := wandertest.New(t, 3)
//			held, err := g.Member(0).Client().Acquire(t.Context(), wandertest.Tape)
//			…
//			g.Member(0).Kill()
//			err = backup(t.Context(), g.Member(1).Client()) // the code under test
//			…
//		})
//	}
//
// [New] has to be called within a bubble of [testing/synctest]. The group ends with the test. A grant that is not released by then makes synctest
// report a deadlock: release what you acquire.
//
// # What is real, and what is not
//
// Each member is what `wander node` runs: package node with its state machine, policies, journal (in the test's folder), signatures, TLS and QUIC.
// These differ:
//
//	clock      that of the bubble, also for grants. It begins on 1 January 2000, and a machine is never suspended
//	network    in memory, with a delay of one millisecond each way; it loses what is sent to or from a member that is cut off or killed, and nothing else
//	API        [Member.Client] asks the member directly and not over a socket: a member that does not run answers [wander.ErrUnavailable] at once,
//	           where the client of a daemon waits for its restart
//	death      [Member.Kill] ends a member between two steps of it, and loses nothing that the journal was given. On a real machine the kernel
//	           refuses what is sent to the port of a dead process, and others learn sooner of its death
//	CA         there is none: certificates last for the test, and nobody is revoked
//
// Keys and draws are random: which of several waiting members is next may differ from run to run.
//
// A program that links this package measures all grants on the clock of package time, which stands still while the machine is suspended. So link it
// to tests only.
package wandertest
