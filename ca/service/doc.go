// Package service is the enrolment service of a group's authority, the only part
// of it that strangers can reach: it takes the requests of package
// node/enrolment over HTTPS and has package ca do what they ask.
//
// It is made for a hostile network. Whoever has no member's certificate gets
// one and the same refusal, whatever he sends; what was wrong is in the log. A
// connection carries one request, in a few seconds. Connections are limited in
// number and rate, for each address (an IPv6 network of 64 bits counts as one)
// and for all together; when there are too many the oldest has to go, so that
// somebody who holds connections open keeps nobody out. Bodies, tables and the
// log are bounded.
//
// The service keeps nothing that the authority does not have, but for the file
// seenFile: the members that it heard of lately, for newcomers to meet.
package service
