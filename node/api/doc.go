// Package api is how programs of one machine talk to its daemon: HTTP/1.1 and
// JSON on a Unix socket that only its owner may use, unless Access says more.
//
// A program asks for a resource with POST /v1/acquire and gets one JSON object
// per line for as long as it listens:
//
//	→ {"resource":"ftp","wait_ms":60000}
//	← {"v":1,"event":"granted","grant":{"id":…,"deadline":…,"fence":"3565158400000000042"}}
//	← {"v":1,"event":"lost","reason":"revoked"}
//
// In Go:
//
//	client := api.Dial("/var/lib/wander/wander.sock")
//	held, err := client.Acquire(ctx, api.AcquireRequest{Resource: "ftp"})
//	...                                // use the resource until held.Grant().Deadline, or held.Lost()
//	err = client.Release(ctx, api.ReleaseRequest{Grant: held.Grant().ID, Operated: true})
//
// # The requests
//
//	POST /v1/acquire   wait for a grant, and hear of its loss
//	POST /v1/release   the grant is over; may be repeated
//	GET  /v1/status    what this one member knows
//	GET  /v1/members   whom it knows
//	POST /v1/leave     leave the group, permanently
//	POST /v1/renew     ask the CA for a newer certificate now
//	POST /v1/connect   a stream to the resource through its gate, within the session of a grant
//	GET  /v1/checkup   what an operator can mend
//	POST /v1/probe     dial one member, and say what has answered
//	GET  /v1/history   shares and waits of the last hour, by minutes
//
// Every object carries "v":1. Refusals are {"v":1,"error":{"code","message","hint"}};
// the codes are the sentinel errors of this package (errors.go), so errors.Is works on both sides.
//
// # Demand and grant
//
//	        acquire              granted              release, or the deadline
//	(idle) ────────▶ demand ───────────────▶ grant ─────────────────────────▶ (over)
//	                   │ connection closed     │ connection closed: nothing changes
//	                   ▼                       │ lost: the program has to stop
//	               withdrawn
//
// Closing the connection before the grant withdraws the demand. Closing it
// afterwards changes nothing: the program may still be using the resource, so
// the grant stands until POST /v1/release or its deadline. The release names
// the grant, goes over any connection, also to a daemon that was restarted
// meanwhile, and may be repeated. A grant that nobody was told of is released by whichever side notices.
//
// # The two sides
//
//	program ── Client ── socket ── Server ── NewHandler ── Backend (the node)
//
// The daemon's side is a Backend behind NewHandler, served by Server; Listen makes the socket. A HeldGrant is a grant in
// force there. The program's side is Client, which makes a connection for each call and so survives a restart of the
// daemon; its Acquire returns a Held. `wander run`, status, members, leave and cert renew are clients, and so is the demo;
// a Go program that has a node of its own calls the Backend's methods on it directly.
//
// # What holds
//
// A request is one object within MaxBody. Unknown fields in a request are refused, since a misspelt wait_ms
// would wait without end; unknown fields and events in a reply are skipped, since a newer daemon may have more. At
// most MaxStreams programs wait or hold at a time, and maxLooks answers are put together. Each wait has a bound but the one for a grant (limits.go).
//
// # What it does not do
//
// It decides nothing about grants: whether one is given, for how long, and what is lost is for package node
// and the member. It does not stop a program at its deadline: that is for who runs it
// (cmd/wander/internal/supervise). There is no view of the group: Status is what one member knows, with ages.
// Of users it knows the daemon's own and the others (Access): these may use resources, within bounds of their own, and
// do nothing that concerns all. The system, not the program, says who asks (Asker).
//
// A new request is a line in newHandler, a method of Backend and of Client, and its types in types.go or
// status.go. spec/api.md is the description for other languages.
//
// Client, Server and handler are safe for concurrent use.
package api
