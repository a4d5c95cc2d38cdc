// Package certificate is what is signed about one member: its certificate and
// its revocation, by the CA; its endpoint record, its leave and its request for
// a certificate, by itself; and failure statements, by other members.
//
// What is signed and what is not are different types. Claims, Endpoint and the
// like are plain values that mean nothing; Sign, or Parse with the right key,
// turns them into a Certificate, a SignedEndpoint and so on. Whoever holds one
// of those holds a verified, immutable object, safe for concurrent use. Between
// the two stands Unverified, for those who verify many objects in one batch.
//
// Parse does not look at the time. Whether a certificate is valid now is asked
// with ValidAt, because what its member signed stays settled after it expired.
package certificate
