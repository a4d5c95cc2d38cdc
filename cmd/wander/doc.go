// Command wander lets the members of a group share a legacy resource, with no
// server: see the README.
//
//	$ wander demo --members 3 --for 4s
//	3 members, policy wandering, preset fair, 4s; Ctrl-C ends it early
//
//	3 members, 4 s, 0 crashes
//	hops        15, operations 16
//	overlap     0.00 s with more than one operation, at most 1 at once
//	tokens      1 generated, 0 dropped, 0 lost
//	...
//
// # The commands
//
//	try it      demo, plan                   a whole group on this machine; what to expect, by simulation
//	authority   ca …                         init, config, invite, issue, list, revoke, rotate, serve
//	machine     join, cert, node             become a member, renew, run the daemon
//	programs    run                          wait for the resource, and run a command under the grant
//	daemon      status, members, leave       ask the daemon of this machine
//	evidence    inspect, audit               show any object; compare the journals of many members
//	            version
//
// Each command is a file that is named after it, a few that begin with its name, or a package below internal,
// and a line in commands (commands.go). README.md and the help of each command are for users; this page is for
// who changes them.
//
// # The walk of a command
//
//	main        a process that supervise has started as a guard goes its own way
//	run         cli.Run: flags, arguments, help; one exit code comes back
//	 new…Command  names, help and flags of one command
//	  run…        reads files and settings, calls a package, shows what it returns
//	 complain     error and hint on standard error, one line each
//
// A command is thin: it turns text into arguments and a result into text. The work is in a package that
// has neither flags nor exit codes, and that tests call directly:
//
//	ca …           ca, ca/service              status, members, leave   node/api (Client)
//	node           node, internal/supervise    demo       internal/demo
//	join, cert     node/enrolment, node/api    inspect    internal/inspect
//	run            node/api and                audit      internal/auditing, on protocol/audit
//	               internal/supervise          plan       sim/plan
//
// The daemon (node) holds tokens and gives grants; run waits for one in a process of its own and starts the
// program. The daemon itself runs the command of its [operation] settings. Both leave the program's end to the
// guards of internal/supervise, which are processes too: so the program dies at its deadline even when the
// daemon, or run, was killed.
//
// # What it owns
//
// The names of commands, flags and settings, their defaults, the text that people read, the JSON that scripts
// read ("v" is its version), and the exit codes (package cli). Settings of the daemon come from the
// environment (WANDER_SECTION_KEY), its file and defaults, in this order.
//
// An environment is all that a command knows of the world outside: streams, variables, the clock, and what it
// may do to its own process. Tests replace it and call run.
//
// # What holds
//
// No private key and no passphrase is printed. Text from elsewhere stays on its line (cli.OneLine). An error
// says what is wrong, and a hint what to do. Each setting is in docs/configuration.md, which tests hold to the
// code. This program links neither the study nor a plotting or test library: that is wander-lab.
//
// # Where a new line belongs
//
// A new command is its new…Command, a line in commands, and a test that calls run. A rule, a format, or
// anything that a second program could want is not here, but in the package that it belongs to. What
// wander-lab needs as well is in cmd/internal.
package main
