// Package demo runs a whole group on one machine: a throw-away CA, members that
// are processes of their own, real QUIC between them over loopback, and, when
// asked for, a relay between them that loses, delays and reorders datagrams
// and a hand that kills members with SIGKILL and starts them again.
//
// It counts its figures about custody from the members' journals.
//
//	o, err := demo.Prepare(demo.Options{Members: 8, For: 30*time.Second, Program: wander, …})
//	summary, err := demo.Run(ctx, o, &demo.Table{Out: os.Stdout})    // or demo.Quiet{}
//
//	$ wander demo --members 3 --for 4s
//	hops        15, operations 16
//	overlap     0.00 s with more than one operation, at most 1 at once
//	tokens      1 generated, 0 dropped, 0 lost
//	handoffs    15 ok, offers: 0 retried, 0 reselected; 0 in doubt and resolved
//	...
//
// `wander demo` is its one caller.
//
// # A run
//
//	Prepare      the options are checked, and the folder is made
//	makeGroup    ca/, and for each member its key, certificate, settings and socket; a relay if asked for
//	tether       a pipe that ends with this process, and the members with it
//	play         starts all members, and then, until the time is over:
//	  strike       kills one (victim: any, or one that holds a token); restore starts it again
//	  poll         asks all for their status, and shows it on the Screen
//	  lost         a member that ended by itself ends the demo with an error
//	stopAll      SIGTERM, SIGTERM, SIGKILL, each with stopPatience
//	tally        reads all journals: the Summary
//
// The folder afterwards:
//
//	ca/group.crt               the group file, for `wander inspect` and `wander audit`
//	m01/wander.toml            the settings; member.key and member.crt are beside it
//	m01/log                    what the member has logged, over all its lives
//	m01/state/journal/         its journal
//
// # The types
//
//	Options   what to run; Prepare fills in the preset and the folder
//	Screen    how it is shown meanwhile: Table on a terminal, Quiet elsewhere; a View is one picture
//	Summary   what it reports, as JSON too, with its version
//	process   one member: its folder, its socket, the process of its present life, and its last status
//	hand      kills members, one at a time
//	books     what the journals say about time (tally.go, recovery.go)
//
// A member's UDP socket belongs to the demo, which hands it on to each of the member's lives
// (inherit_unix.go), so that no other program gets the port while the member is down. On Windows it frees the
// port instead.
//
// # What is counted where
//
// Custody, handoffs, operations, losses and findings come from the journals, by audit.Check: one clock has
// written all of them, and none is missing. Only retried, reselected and in-doubt handoffs are the members'
// own counters, which a kill loses as far as no poll has seen them. The operation during which a member was
// killed counts for its usual time, as its end is written only when the member is back.
//
// # What holds, and what does not belong here
//
// When Run returns, all members have ended, whatever ended it. The demo needs no setting and no privilege, and
// listens on loopback only. It proves nothing about a group on several machines: clocks, disks and routes are
// one machine's.
//
// It steps no member itself and knows no protocol: members are the same program as in production, `wander
// node`. Faults beyond loss, delay and kills are for soak; groups above MaxMembers and years of time for the
// simulator. A new fault is a field of Options with its bound in validate, and a method of hand or a property
// of the relay (internal/relay).
//
// Run may be called once for a folder. Everything here is used by the goroutine that calls it, but for process, which
// is polled concurrently.
package demo
