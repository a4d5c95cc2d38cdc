package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"math/big"
	"slices"

	"filippo.io/edwards25519"
)

// order is L, that of the base point.
var order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// identityNotCanonical encodes the identity with y = p + 1.
const identityNotCanonical = "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"

// smallOrder are the canonical encodings of the eight points of small order, and
// notCanonical the other encodings of such points: y at or above p, or a sign
// bit where x is 0.
var (
	smallOrder = []string{
		"0100000000000000000000000000000000000000000000000000000000000000", // order 1
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 2
		"0000000000000000000000000000000000000000000000000000000000000000", // 4
		"0000000000000000000000000000000000000000000000000000000000000080", // 4
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // 8
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", // 8
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // 8
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", // 8
	}
	notCanonical = []string{
		"0100000000000000000000000000000000000000000000000000000000000080",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	}
)

// orderEight is which of smallOrder has order 8.
const orderEight = 4

func hexBytes(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err) // a constant
	}
	return b
}

// number reads 32 bytes, little-endian.
func number(b []byte) *big.Int {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

// little writes a number below 2^256 in 32 bytes.
func little(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

// plusOrder is a signature with S + L in place of S: the same equation holds.
func plusOrder(sig []byte) []byte {
	return append(bytes.Clone(sig[:32]), little(new(big.Int).Add(number(sig[32:]), order))...)
}

// point decodes a point.
func point(b []byte) *edwards25519.Point {
	p, err := new(edwards25519.Point).SetBytes(b)
	if err != nil {
		panic(err) // a constant, or made here
	}
	return p
}

// scalarOf is the secret scalar of a key (RFC 8032 §5.1.5).
func scalarOf(key ed25519.PrivateKey) *edwards25519.Scalar {
	h := sha512.Sum512(key.Seed())
	s, err := new(edwards25519.Scalar).SetBytesWithClamping(h[:32])
	if err != nil {
		panic(err) // it has 32 bytes
	}
	return s
}

// reduced is SHA-512 of some parts modulo L.
func reduced(parts ...[]byte) *edwards25519.Scalar {
	sum := sha512.Sum512(bytes.Join(parts, nil))
	s, err := new(edwards25519.Scalar).SetUniformBytes(sum[:])
	if err != nil {
		panic(err) // it has 64 bytes
	}
	return s
}

// skewed is a signature by a key to which a point has been added, or whose R has
// one added: the equation holds up to that point.
func skewed(key ed25519.PrivateKey, toKey, toR *edwards25519.Point, message []byte) (public, sig []byte) {
	a := scalarOf(key)
	r := reduced([]byte("nonce of the vectors"), key.Seed(), message)
	A := new(edwards25519.Point).ScalarBaseMult(a)
	R := new(edwards25519.Point).ScalarBaseMult(r)
	public, encodedR := A.Add(A, toKey).Bytes(), R.Add(R, toR).Bytes()
	k := reduced(encodedR, public, message)
	return public, append(encodedR, new(edwards25519.Scalar).MultiplyAdd(k, a, r).Bytes()...)
}

// withR is a signature whose R is a given point of small order: S is k times the
// secret scalar.
func withR(key ed25519.PrivateKey, r, message []byte) []byte {
	k := reduced(r, key.Public().(ed25519.PublicKey), message)
	return append(bytes.Clone(r), new(edwards25519.Scalar).Multiply(k, scalarOf(key)).Bytes()...)
}
