// Package driver drives the gate of a resource: it steps the pure machine of protocol/gate, and has what that has not, which is
// connections, hooks, a journal, clocks and the tunnel to the resource.
//
//	g, err := driver.Open(driver.Config{…})   // takes the state folder, closes what its journal has open, and serves
//	<-g.Done()                            // its journal cannot be written any more
//	err = g.Close(ctx)                    // closes all sessions, then stops
//
// # The walk of a sign-in
//
//	transport.Entrance   shakes hands: members of the group only
//	visitor.read         one goroutine of each connection reads frames, and verifies permit and statement for its exporter value
//	engine.run           the one goroutine that steps the machine; it performs the effects in their order
//	  Persist            store.Store, with a sync before the next effect
//	  RunOpen, RunClose  places: one hook at a time of each slot, on a goroutine; RunClose severs the session's streams first
//	  Say                signed, and queued for the connection's writer
//	tunnel               data streams, each with a connection to the target, while their session is open
//
// # What is whose
//
//	the machine, and the views of the slots   the goroutine of engine.run
//	connections                               visitors.mu
//	sign-ins that live                        engine.run; a visitor only has their numbers
//	open sessions and their streams           tunnel.mu
//	group, revocations                        knowledge.mu
//	certificates that have verified           certificates.mu
//
// A visitor never waits for the engine while it holds a lock, and the engine waits for nobody but the disk.
//
// # Hooks
//
// A Hook runs a command and returns when that and all that it has started has ended. Without a close hook, close confirms
// when the target has closed all connections of the session: the gate half-closes them and waits. That confirms less: a service
// may go on working for a client that is gone.
//
// # Observing
//
// In a group whose configuration says observe, the machine runs as it would, and what it would have kept out is let in, counted and
// logged. No hook runs, and nothing is severed.
package driver
