// Command hostile measures what members that do not keep to the protocol do to a group, and
// what a flood from outside does. Each member is a real process on a machine of its own, as
// in a soak run. It runs each group without the bad members, and with them, and counts by
// what the programs of the honest members write of themselves.
//
//	$ go run ./soak/hostile -kinds hoarder,minter -presets fair -n 3 -for 30s
//
// makes three groups of three honest members and prints one line for each: nothing, hoarder, minter. docs/soak.md
// says how to read the table, and -help lists the kinds.
//
// # Who calls it
//
// An engineer who changes a keeper, a limit or a policy, and asks what a thief of a key can still do. It fails when a
// group could not be measured. It has no limits for what it measures: rules about bad members are tested in
// sim/cluster, where each run can be repeated.
//
// # The groups
//
//	        honest machines                   bad machines
//	m1  wander node ← wander run ← probe      bad1  liar -kind hoarder
//	m2  wander node ← wander run ← probe      bad2  liar (some kinds take two or three)
//	m3  wander node ← wander run ← probe
//	    each always wants to run              newN, old: members that visit m1 during a flood
//
// The bad members have valid certificates. A flood is the exception: it uses none, and usually has an address of
// another network. Then newcomers, and one member that comes back, want to be let in by m1 (flooded).
//
// # The types
//
//	options   the command line
//	badKind   one way to be bad: which kind of liar, how many, at what rate, and whether it is a flood
//	band      one group: rig.Group, with the honest members, the bad ones, the visitors
//	figures   what the honest programs say: operations a second, overlap, longest waits
//	crash     what came of the kill of an honest daemon (-kill)
//	knocks    the dials to the flooded machine, counted on the network
//	visit     how one newcomer or returner fared
//	verdicts  what an audit of the honest journals says, and of which members
//	row       one line of the table: all of these, beside the figures without bad members
//
// # The walk of one line
//
//	inner          for each size and preset: one group without bad members, then each kind
//	 └ try         a folder and a band; a guard ends everything if the run does not end
//	    ├ open     makeGroup, the daemons of the honest members, acquaint
//	    │  └ rank  a name for the resource under which the bad members are the last keepers, or the first
//	    └ attack   all want; warmTime; startBad; visits or kill; the end of -for
//	       ├ measure, crashOf    from the log of the programs, between two instants
//	       └ audit, verdictsOf   from the journals of the honest members
//
// # Invariants
//
//   - What is counted does not come from the bad members. Their reports (package report) say only how often they
//     tried, and which tokens are theirs.
//   - A kind is compared with the same group, size and preset, without bad members and in the same run. If that group
//     fails, the lines that need it are left out, and the command fails.
//   - Which member is keeper follows from the ids, which are random. rank removes this chance by the name of the resource.
//   - Dials are counted by packets (initialOf), because a daemon under attack may not know of them.
//
// # What belongs elsewhere
//
// How a bad member behaves is in soak/liar; a new kind is a line of badKinds, with its behaviour there if no
// kind has it yet. How groups and machines are made is in packages rig and world, and overlap in package judge. A new
// column is a field of figures or of verdicts, a head, and a cell of row.String.
//
// One goroutine for each honest member starts its programs; band.mu guards their process ids and whether the run is
// over. measure, verdictsOf and row are functions of what is there in the end. The command needs Linux.
package main
