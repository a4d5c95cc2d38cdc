// Package service is the enrolment service of a group's authority, the only part
// of it that strangers can reach: it takes the requests of package
// node/enrolment over HTTPS and has package ca do what they ask. `wander ca serve` runs it.
//
//	s, err := service.New(service.Config{
//		Open:     func() (*ca.Authority, error) { return ca.Open(dir, options) },
//		Listener: listener, // TCP; the service adds TLS
//		Log:      log,
//	})
//	go s.Serve()
//	...
//	err = s.Shutdown(ctx)
//
// # The requests
//
//	path          from        what it does                          handler
//	/v1/enrol     anybody     redeems an invite                     enrol
//	/v1/renew     a member    gives its newest certificate          renew
//	/v1/sync      a member    takes in its endpoint and leaves,     sync
//	                          tells what was published since
//	/v1/leave     a member    takes in that some member left        leave
//	/v1/evidence  a member    takes in proof against some member    evidence
//
// A leave and evidence prove themselves, so any member may bring them.
//
// # The walk of a request
//
//	listener     a share for each address and for all           closed, when it is used up
//	TLS          the service shows its certificate (follow)      the client goes on only with that
//	handle ─ answer, by path
//	 ├ enrol     rates, then the body, then ca.Authority.Redeem
//	 └ asMember  identify: which certificate was shown?          Expired, NotYetValid, Refused
//	    │        its rate                                        Busy
//	    │        published, Eligible                             Revoked, Left, Refused, Failed
//	    └ renew, sync, leave or evidence
//	sayNo        a refusal: the same bytes for the same reason; the cause goes to the log
//
// # A hostile network
//
// It is made for one. A client without a member's certificate gets
// one and the same refusal, whatever it sends; what was wrong is in the log. Only when there is too much to do is
// that said (Busy), and when the authority itself failed (Failed). A
// connection carries one request, in a few seconds. Connections are limited in
// number and rate, for each address (an IPv6 network of 64 bits counts as one)
// and for all together; when there are too many the oldest has to go, so that
// somebody who holds connections open keeps nobody out. Bodies, tables and the
// log are bounded (limits.go, with the reasons). Lines about strangers and lines about what was done have a limit
// each, so that a flood of refusals does not hide an enrolment.
//
// # What it owns
//
// The service keeps nothing that the authority does not have, but for the file
// seenFile: the members that it heard of lately, for newcomers to meet. In memory it has
//
//	shown    its TLS certificate, for a key that is never on the disk; certify makes the next one when
//	         half of its life is over, or when another CA key signs
//	seen     the members that it heard of (seen.go)
//	noted    the leaves and the evidence that it need not look at again (memo, in view.go)
//	strange  the rates of addresses, members those of members, enrols that of all newcomers (rate.go)
//
// A view is what the authority has published at one moment. published takes one for each request, so that
// what another process has signed counts at once. failed opens the authority again when it is broken, at most
// once in reopenPause.
//
// # What belongs elsewhere
//
// Messages, paths and reasons are of package node/enrolment, which has the client, too. Rules about names,
// serial numbers and invites are of package ca, and so is everything durable. A new request is a path and its
// messages there, a case in answer, its handler in member.go, and its limits.
//
// A Server is safe for concurrent use: net/http calls handle from many goroutines, and keep is one more.
package service
