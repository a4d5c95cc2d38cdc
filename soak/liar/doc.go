// Command liar is a bad member: a program with the certificate and the key of a member, as
// somebody has who stole a laptop, that does not keep to the protocol. The hostile runs of
// the soak harness start it beside honest members, on machines that they make for it. No
// daemon contains any of it.
//
//	liar -kind dropper -variant mute -dir bad1 -listen 10.83.0.4:4133 \
//	     -peers 10.83.0.1:4133,10.83.0.2:4133 -bad bad1 -resource x -report bad1/report.json
//
// Most of what a bad member says is what an honest one does: it runs the machine of package
// member over the project's own transport. A kind changes what goes in and out:
//
//	transport ─▶ received ─▶ desk.heard ─▶ kind.heard ─▶ member.Member.Step
//	                          │ its own tokens   │ not heard
//	transport ◀── say ◀── kind.says ◀── perform ◀── effects
//	                          │ held back, or said otherwise
//
// # Who calls it
//
// soak/hostile, which builds it and starts one process for each bad member. A person can start it as well, against a
// group for tests.
//
// # The types
//
//	options     the command line
//	agent       a bad member: identity, machine, transport, kind and desk
//	life        one connection of the agent with its group; again ends it and begins one with a new incarnation
//	inbox       what waits for the loop
//	kind        wants, act, heard and says: what makes the member bad
//	silent      a kind that does nothing, which the others embed
//	desk        hands over tokens that the machine does not know of; heldToken is one of them
//
// The kinds are in files by what they do:
//
//	makers.go     minter, forger, bypasser     make tokens that should not be
//	hoarders.go   hoarder, dodger, evader      keep tokens, and answer that all is well
//	takers.go     dropper, friends             take tokens, and lose or divert them
//	droppers.go   idler, misleader, favourer   drop or divert, and mislead keepers; pretender is a misleader
//	outside.go    flood                        no member: half-open handshakes, without an agent
//
// # The walk of one TRANSFER
//
// At a dropper: life.Frames copies the frame into the inbox, the loop takes it, and received decodes it. The desk does
// not know the token. dropper.heard counts it and lets receive verify it and sign a RECEIPT, as an honest receiver
// does. The machine is not told: so it answers each question of a keeper by saying that it has no such token.
//
// # Invariants
//
//   - Its signatures are valid, and signed by keys that it was given. It sends what an attacker with a stolen key
//     can send, and nothing that only a broken program sends: that is for the fuzz targets.
//   - It signs one transfer for each hop (agent.transfer): a fork would be proof, and each kind measures one crime.
//   - It keeps no journal. A machine has an empty memory at its start, and after again.
//   - act is called only while an honest member is connected, at most maxRate times a second, so that the bad
//     member does not take the processor that honest members are measured on.
//
// # What belongs elsewhere
//
// How much a kind harms is measured by soak/hostile. The simulator has bad members of its own, in sim/cluster. The
// counters that leave the process are in package report. A new kind is a type that embeds silent or another kind, a
// line of kinds, and a line of badKinds in soak/hostile.
//
// All but the machine belongs to one goroutine, agent.loop. Others reach it by the inbox; step guards the machine,
// which the transport's goroutines read (look).
package main
