// Package certificate is what is signed about one member: its certificate and
// its revocation, by the CA, and its endpoint record, by the member itself.
//
// What is signed and what is not are different types. Claims, Endpoint and
// Revocation are plain values that mean nothing; Sign, or Parse with the right
// key, turns them into a Certificate, a SignedEndpoint or a SignedRevocation.
// Whoever holds one of those holds a verified, immutable object, safe for
// concurrent use.
//
// Parse does not look at the time. Whether a certificate is valid now is asked
// with ValidAt, because what its member signed stays settled after it expired.
package certificate
