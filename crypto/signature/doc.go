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
// Signing is crypto/ed25519, whose signatures always satisfy the rule.
//
// # Types
//
//	key, err := signature.NewPrivateKey(seed)       // or Generate(random)
//	sig := key.Sign(message)
//	err = key.Public().Verify(message, sig)         // nil, ErrEncoding or ErrMismatch
//
//	var batch signature.Batch                       // the same verdicts, at less cost
//	batch.Add(key.Public(), message, sig)
//	verdicts := batch.Verify(random)                // nil: all are good
//
// A PrivateKey shows no secret wherever it is printed, logged or marshalled; Seed and StdKey
// hand it to the key file and to crypto/tls. Derive makes a secret for another purpose.
//
// A PublicKey has passed rules 2 and 3 when ParsePublicKey returns it, so no verification
// repeats them. It keeps the negated point. From its third verification on it also keeps a
// table, so keys that are used again are kept and not parsed again.
//
// A Batch is for a reader of many signatures: a directory that learns a page, an auditor that
// reads a journal. Memory remembers verdicts for simulations and fuzzers, and never for
// a daemon.
//
// # The walk of a verification
//
//	              alone                                     in a batch
//	Verify(message, sig)                         Add(key, message, sig), once for each
//	  recall      known to the key's Memory?       recall, parse, challenge, as on the left
//	  parse       rules 1 and 2, of sig          Verify(random)
//	  challenge   k                                wellFormed  no ErrEncoding among them
//	  holds       rule 4: with the key's           pays        cheaper than one by one?
//	              table, if it has one             holds       one equation, coefficients from random
//	  note        for the Memory                   each        otherwise one by one, as on the left
//
// The coefficients of a batch depend on the random bytes and on all signatures in it. A weak or
// missing source therefore lets nobody smuggle a signature in; it only makes a batch
// repeatable. The costs that pays compares are constants in batch.go, measured by the benchmarks.
//
// # Who calls it
//
// Package envelope signs and verifies all objects of the protocol with it. Code above asks an envelope
// and not a key, since an envelope says of which kind and group an object is; only node/enrolment has to
// verify the X.509 certificate of a service with a key. Packages certificate and group turn the bytes in
// certificates into public keys. Packages ca, keyfile, node/transport and node/enrolment handle private ones.
//
// # What holds
//
// Verify and Batch agree on every input; the verdict does not depend on a table or a Memory, nor
// does the number of random bytes that a batch draws. Verification is of public inputs
// only: multiply.go takes a time that depends on them, and must not be used with a secret.
// Errors are the five sentinels of errors.go.
//
// Keys are safe for concurrent use. A Batch is not. A Memory is.
package signature
