// Package node drives a member in the real world: QUIC, disk and clocks around the
// pure machine of protocol/member.
//
//	id, err := node.LoadIdentity("member.crt", "member.key", "group.crt")
//	n, err := node.Open(ctx, node.Config{
//		Identity: id, StateDir: "state", Listen: "192.0.2.7:4133",
//	})
//	err = wander.Of(n).Do(ctx, "tape", func(ctx context.Context, g wander.Grant) error {
//		…                       // ctx ends before the grant's deadline
//	})
//	<-n.Done()                      // n.Err() says why
//
// The daemon, cmd/wander, serves the same over a local socket (package api), so that a
// program needs no node of its own: package wander, at the top of the module, has the client of both.
//
// # The parts
//
//	            local programs               other members            the CA
//	                  │                           │                     │
//	           api.Server (api)         transport.Transport     authority.go, evidence.go
//	                  │  Acquire, Release         │  Frames, Connected, │  Learn, Renewed
//	                  ▼                           ▼  Unreachable        ▼
//	            programs.go ───────────────▶ engine.go ◀─────────── tick (timer)
//	                  ▲                           │  member.Step
//	                  │ granted, refused          ▼
//	                  └────────────────────── effects.go: perform
//	                                              │
//	                              journal.go: store.Store       outbox.go: transport
//
//	store       the journal's segments on disk
//	transport   frames between members over QUIC
//	api         local programs, over a Unix socket
//	enrolment   the messages with the CA
//	metrics     what Prometheus scrapes
//	boottime    a clock that counts suspended time
//	explain     why nothing runs, in a sentence (why.go gathers what it needs)
//	forecast    when a token comes
//	bench       measurements
//
// # The engine
//
// Nobody else steps the member. Every input (a frame, a deadline, a demand) goes into
// the backlog, and a goroutine that brings one while nobody works does the
// work itself. So on a quiet node the goroutine that has read a frame also
// handles and answers it, and while one goroutine waits for the disk the others
// only add to the next batch. One sync serves all records of a batch.
//
// perform appends the records of a batch, syncs if any of them needs it, and then
// does everything else in the order of the effects. So no message leaves before
// what it depends on is durable.
//
// The member is looked at under engine.step (engine.look), which is held while it is
// stepped and never during I/O. Handlers of the transport may therefore ask the
// member, and the engine may call the transport.
//
// # What ends a node
//
// A failed write or sync ends the node (ErrJournal): what the disk holds is then
// unknown, and a second attempt that succeeds proves nothing. So do a revocation
// (ErrRevoked) and a leave (ErrLeft). Grants in force are lost then, with the reason.
// Close first passes on the tokens that the member holds, as far as that goes within
// a few seconds.
//
// A node that cannot reach its CA goes on: tokens move without it, until the
// certificate expires.
//
// # Restart
//
// Open reads the journal, rebuilds the member from it (member.Restore), and steps it for
// the first time when transport and journal are open. Programs under a grant
// outlive a daemon that is killed: cmd/wander's guards kill them at the deadline, and
// the record Started in the journal keeps their token here until then.
package node
