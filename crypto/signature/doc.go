// Package signature is Ed25519 with one exact verification rule.
//
// RFC 8032 leaves verifiers room to disagree, and two members that disagree
// about one signature disagree about who holds a token. Here there is one rule
// (the strict, strongly binding variant of Chalkias, Garillot and Nikolaenko,
// "Taming the many EdDSAs", §3):
//
//  1. S is below the group order.
//  2. A and R are canonical encodings of points: y below 2^255-19, and no sign
//     bit on x = 0.
//  3. A is not of small order.
//  4. [8]([S]B - [k]A - R) is the identity, k = SHA-512(R || A || M) mod L.
//
// The equation has the cofactor because only then can a batch be checked as
// one equation and still give each signature the verdict it gets alone.
//
// Signing is crypto/ed25519, whose signatures always satisfy the rule.
package signature
