// Package enrolment is how a machine and the group's authority talk: to become
// a member, to renew a certificate, to learn what was published, to leave. It
// has the messages, whose shapes are in spec/enrolment.cddl, and the client; package
// ca/service has the service.
//
// The service speaks HTTP/1.1 over TLS 1.3. Its TLS certificate is an X.509
// certificate for a key of a day, signed with a CA key of the group, and
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
// Everything is safe for concurrent use unless it says otherwise.
package enrolment
