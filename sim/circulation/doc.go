// Package circulation simulates a group whose members are nothing but their
// policies, in virtual time: millions of handoffs a second, a million members.
//
// The policies are those that members run, made by protocol/policy/catalog,
// and a [Simulation] answers their actions as protocol/member does. What is left
// out is how a token gets from one member to another: a handoff is a latency
// and a probability of loss. Whole members on a faulty network are what
// sim/cluster simulates.
//
//	w, err := circulation.New(circulation.Config{
//		Policy: catalog.Wandering, Params: params, Members: 300, Found: 1, Seed: 1,
//	})
//	meter := circulation.NewMeter(circulation.MeterConfig{Start: warm})
//	w.Observe(meter)
//	w.Run(clock.Instant(100_000 * time.Second))
//	fmt.Println(meter.Concurrency(0)) // the share of time in which nobody operates
//
// A run is a function of its [Config] and of what is called on its Simulation: the
// same seed gives the same run, whoever observes it.
//
// # What happens at one instant
//
// Everything that happens has an instant and a sequence number, drawn when it
// was scheduled; in this order it happens. The actions of a policy are performed
// in their order, each before anything else happens.
//
// # Handoffs
//
// A token that is passed is nobody's until its receiver has accepted
// (Config.Reserving, which a policy that prepares the pass lets go on before), and
// Config.Passing later. Then it
// arrives: first the receiver's policy gets its Arrival, then the sender's its
// PassEnded Delivered. A token that is passed to nobody in particular goes
// to a member drawn uniformly among the others that are up (or the one that
// Config.Directory names); if that one is down when the token would arrive,
// another one is drawn, and the latency too, up to sixteen times. A token that
// is passed to a named member which is down or gone by then comes back to the
// sender, as Returned. So does one where there is nobody else, a second later
// than that (as the handoff pauses). A token that is lost in transit is gone at once; its sender
// is told Abandoned after abandonAfter, when a member stops asking.
//
// What travels from one member to another, tokens and messages, arrives in the
// order in which it was sent.
//
// # Operations and demand
//
// An operation that Run begins takes Config.Operation. When the member does
// not want to run, it does not begin, and ends at once without having run.
//
// # Crashes
//
// A crash ends the member's operations. A durable member (the default) keeps
// its tokens, which wait for it, and its policy is made anew and told the last
// visits (Recalled) and its tokens (Resumed) when it returns. A forgetful one
// loses both. Whoever returns wants to run as at its start, whatever it wanted
// before. Crash for forever takes the tokens along; who leaves passes them
// on. The others' Neighbour changes at once: there the simulator knows no time to
// find out. Config.Down of the members fall for good, and are named by no Roster from
// DetectAfter later on, unless nobody states failures (Config.Unstated).
//
// # Watches and rosters
//
// A policy that watches a member is told Silent when that one has been down for
// Config.DetectAfter, and Config.FalseSuspicion of the watches are told so for no
// reason. A policy.Roster names those that are up, and those that fell less than
// DetectAfter ago; with Config.Known it draws from a sample. Both draw from random
// streams of their own.
//
// # The parts
//
// A Simulation takes one event after another from its agenda and gives it to the
// part whose duty it is. membership lets members join, leave, crash and return;
// faults injects what the Config asks for. agents tells the policies what
// happens, and performs what they answer: tokens has the table of the tokens,
// handoffs passes them, operations knows who wants to run and who runs, mail
// delivers messages, and watches reports who has fallen silent. roster answers
// the questions of policies. All of them share one group: the clock, the
// agenda, and the members.
package circulation
