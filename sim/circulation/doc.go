// Package circulation simulates the policies of a group in virtual time,
// without the rest of its members: millions of handoffs a second, a million
// members. A policy decides when its member runs the operation, passes a token
// on, and generates or drops one; docs/glossary.md has the terms.
//
// The policies are those that members run, made by protocol/policy/catalog, and
// a [Simulation] performs their actions as protocol/member does. It leaves out
// how a token gets from one member to another: a handoff is a latency and a
// probability of loss. Package sim/cluster simulates whole members on a faulty
// network.
//
//	w, err := circulation.New(circulation.Config{
//		Policy: catalog.Wandering, Params: params, Members: 300, Found: 1, Seed: 1,
//	})
//	meter := circulation.NewMeter(circulation.MeterConfig{Start: warm})
//	w.Observe(meter)
//	w.Run(clock.Instant(100_000 * time.Second))
//	fmt.Println(meter.Concurrency(0)) // the share of time in which no operation runs
//
// A run depends only on its [Config] and on the calls of its Simulation's
// methods: the same seed gives the same run, with or without observers.
//
// # What happens at one instant
//
// Each event has an instant and, from when it was scheduled, a sequence number;
// events happen in this order. The Simulation performs the actions of a policy
// in their order, before the next event.
//
// # Handoffs
//
// A pass takes Config.Reserving, until its receiver has accepted, and then
// Config.Passing; a policy that prepares the pass lets the first part go on
// earlier. Meanwhile the token is nobody's. Then it arrives: first the
// receiver's policy gets Arrival, then the sender's gets PassEnded with
// Delivered. If the policy names no receiver, the token goes to a member drawn
// uniformly among the others that are up (or to the one that Config.Directory
// names). If that member is down when the token would arrive, the Simulation
// draws another one, and the latency too, up to sixteen times. If the policy
// names a receiver that is down or gone by then, the token comes back to the
// sender, as Returned. If there is no other member, it comes back as well, a
// second later (as the handoff pauses). A token that is lost in transit is gone
// at once; its sender's policy is told Abandoned after abandonAfter, the time
// after which a volatile member stops retransmitting. A policy with a keeper is
// told Parted when a pass begins.
//
// Tokens and messages from one member to another arrive in the order in which
// they were sent.
//
// # Operations and demand
//
// An operation that the action Run begins takes Config.Operation. If the member
// does not want to run, the operation ends at once without having run.
//
// With Config.Windows operations run only while a window is open. Members want to
// run meanwhile as ever, and wait; but their policies are told that they do not,
// as those of members are (P-91).
//
// # Crashes
//
// A crash ends the member's operations. A durable member (the default) keeps
// its tokens, which wait for it. When it returns it gets a new policy, which is
// told the last visits (Recalled) and its tokens (Resumed). A forgetful member
// loses both. A member that returns wants to run as at its start, whatever it
// wanted before. The tokens of a member that crashes forever are lost; a member
// that leaves passes its tokens on. The Neighbour of the others changes at
// once, without a time to find out. The share Config.Down of the members falls
// for good. No Roster names these from DetectAfter later on, unless nobody
// declares failures (Config.Unstated).
//
// # Watches and rosters
//
// A policy that watches a member is told Silent when that member has been down
// for Config.DetectAfter. The share Config.FalseSuspicion of the watches is
// told Silent without reason. A policy.Roster names the members that are up,
// and those that fell less than DetectAfter ago; with Config.Known it draws
// from a sample. Watches and rosters draw from random streams of their own.
//
// # The parts
//
// A Simulation takes one event after another from its agenda and gives it to
// the responsible part. membership lets members join, leave, crash and return;
// faults injects the faults of the Config. agents tells the policies what
// happens, and performs what they answer. For that, tokens has the table of the
// tokens, handoffs passes them, operations knows which members want to run and
// which run, hours when they may, mail delivers messages, and watches reports members that have
// fallen silent. roster answers the questions of policies. All parts share one
// group: the clock, the agenda and the members.
package circulation
