// Package update is how news of the membership travels: on tokens, on their
// receipts, and between members that exchange digests.
//
// An [Update] says one thing about one member: that it joined, left, could not
// be reached by a witness, or was revoked. It consists of signed objects and
// so is authenticated by itself, whoever carries it: [Parse] reads the form and
// verifies nothing, that is the directory's business (protocol/directory). The
// signer's certificate comes along, for members that have not heard of it.
//
// A [List] is what one member still has to tell. What was news to its directory
// goes in; Take says what goes along with the next message. Each update is told
// a limited number of times, so that it dies out when everybody must have heard
// it, and those told least go first. It is rumour mongering with a counter
// (Demers et al., "Epidemic algorithms for replicated database maintenance",
// 1987) on the contacts that tokens make anyway.
package update
