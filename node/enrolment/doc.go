// Package enrolment is how a machine and the group's authority talk: to become
// a member, to renew a certificate, to learn what was published, to leave. It
// has the messages, whose shapes are in spec/enrolment.cddl, and the client; package
// ca/service has the service.
//
//	// A newcomer: the key and the request are on the disk before.
//	enrolled, err := enrolment.Enrol(ctx, invite, request, nil)
//
//	// A member.
//	client := enrolment.Client{Addresses: addresses, Group: group, Certificate: certificate, Key: key}
//	renewed, err := client.Renew(ctx)
//	news, err := client.Sync(ctx, enrolment.Mine{Revocations: version, Endpoint: endpoint})
//
// `wander join` enrols, `wander cert renew` renews, and the node renews, syncs, leaves and brings evidence
// while it runs. None of that is needed for tokens to move.
//
// # One request
//
//	client                                     service
//	  | TLS 1.3: ServerHello, certificate         |
//	  |<------------------------------------------|
//	  | verify: is it the service of my group?    |   else ErrImpostor, *ClockError; nothing was sent
//	  | POST /v1/sync, and a member's certificate |
//	  |------------------------------------------>|
//	  |                  200 message, 204 nothing,|
//	  |                  or a Refusal             |
//	  |<------------------------------------------|
//	  | Decode, and verify what it says           |   else ErrAnswer
//
// The service speaks HTTP/1.1 over TLS 1.3. Its TLS certificate is an X.509
// certificate for a key of two days (ServiceLifetime), signed with a CA key of the group, and
// carries the statements about the CA keys. A newcomer trusts what the key that
// its invite names has signed, or one that this key vouches for; a member, what
// a key of its group has. Nothing is sent before that holds, so that who is in
// between gets no invite. Names and the certificates of public authorities
// play no part; redirections and proxies are not followed.
//
// Members prove who they are with the TLS certificate that they show each other
// (package node/transport). Newcomers have none: they send the invite's secret,
// and a request that is signed with the key that is to be certified. Whoever
// asks again with the same invite and the same key gets the same certificate, so
// that nothing is lost when one side dies half-way: make the key, write it down,
// ask.
//
// # The types
//
//	Message        a request, an answer or a Refusal; Encode and Decode, strict and within limits (message.go)
//	Reason         why a request is refused, with its error and its HTTP status (refusal.go)
//	Publication    what the authority has made known, as far as it is new to the client
//	Enrolled       what a newcomer has become a member with
//	Client         a member's side: Renew, Sync, Leave, Evidence (member.go)
//	Renewed, News  what they return, with the Skew of this machine's clock
//	Schedule       when a certificate is renewed, and when its end is warned of; a function of its arguments
//	trust, caller  which service is believed (tls.go), and the addresses that are tried (client.go)
//
// ServiceCertificate is the one part of the service that is here, beside what verifies it.
//
// # What holds
//
// Keys, certificates and the configuration in an answer are verified before it is returned.
// Revocations, leaves and peers are not (their fields say so): the member's directory does that. An answer has
// at most MaxAnswer bytes, and a service makes a client wait at most an hour (maxRetryAfter). A refusal is the
// same for all strangers (ErrRefused). What the authority decides is final; after anything else, Busy and
// Failed among it, the next address is tried (isAnswer).
//
// # What belongs elsewhere
//
// Who is asked when is the node's (authority.go in that package), with a Schedule; who is let in is the
// service's and package ca's. A new request is a path, its messages with CDDL and limits, and a method of
// Client; spec/enrolment.md is the description for others. The text of an invite is package protocol/invite.
//
// Everything is safe for concurrent use unless it says otherwise.
package enrolment
