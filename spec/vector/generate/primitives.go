package main

import (
	"crypto/ed25519"
	"fmt"

	"filippo.io/edwards25519"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec/vector"
)

const signaturesFile = "signatures.json"

// signatureVectors are keys and signatures as such: protocol.md, chapter 4.
func (s *suite) signatureVectors() {
	s.open(signaturesFile, "Ed25519 keys and signatures: protocol.md, chapter 4.")
	s.keyVectors()
	message := []byte("wander")
	identity := edwards25519.NewIdentityPoint()
	torsion := point(hexBytes(smallOrder[orderEight]))
	honest := ed25519.Sign(ada.private, message)
	put := func(f fault, public, message, sig []byte) {
		v := s.vector("signature", "", f, sig)
		v.With = map[string]vector.Bytes{"key": public, "message": message}
		s.add(signaturesFile, v)
	}
	good := func(slug, about, req string, public, message, sig []byte) {
		put(ok(slug, about, req), public, message, sig)
	}
	bad := func(slug, about, req, outcome string, sig []byte) {
		put(fault{slug: slug, about: about, req: req, outcome: outcome}.malicious(), ada.public, message, sig)
	}
	rfc := ed25519.NewKeyFromSeed(hexBytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
	good("rfc-8032-1", "test 1 of RFC 8032, section 7.1", "S-5", rfc.Public().(ed25519.PublicKey), nil, ed25519.Sign(rfc, nil))
	good("honest", "by Ada, of the text wander", "S-5", ada.public, message, honest)
	public, sig := skewed(ada.private, torsion, identity, message)
	good("key-mixed-order", "the key has a component of order 8: only the cofactored equation holds", "S-3", public, message, sig)
	public, sig = skewed(ada.private, identity, torsion, message)
	good("r-mixed-order", "R has a component of order 8: only the cofactored equation holds", "S-3", public, message, sig)
	for n, r := range smallOrder {
		good(fmt.Sprintf("r-small-order-%d", n), "R is of small order, which is permitted", "S-2", ada.public, message, withR(ada.private, hexBytes(r), message))
	}
	const encoding, mismatch = "signature.ErrEncoding", "signature.ErrMismatch"
	for n, r := range notCanonical {
		bad(fmt.Sprintf("r-not-canonical-%d", n), "R is of small order, and not encoded canonically", "S-2", encoding, withR(ada.private, hexBytes(r), message))
	}
	bad("r-no-point", "R is no point", "S-2", encoding, append(append([]byte{2}, make([]byte, 31)...), honest[32:]...))
	bad("s-plus-l", "S + L in place of S", "S-2", encoding, plusOrder(honest))
	bad("s-is-l", "S = L", "S-2", encoding, append(honest[:32:32], little(order)...))
	bad("s-all-ones", "S of 256 one bits", "S-2", encoding, append(honest[:32:32], repeat(0xff, 32)...))
	bad("s-zero", "S = 0", "S-3", mismatch, append(honest[:32:32], make([]byte, 32)...))
	bad("zero", "64 zero bytes", "S-3", mismatch, make([]byte, 64))
	bad("r-plus-torsion", "R of an honest signature, with a point of order 8 added", "S-3", mismatch,
		append(new(edwards25519.Point).Add(point(honest[:32]), torsion).Bytes(), honest[32:]...))
	bad("other-message", "of another message", "S-3", mismatch, ed25519.Sign(ada.private, []byte("Wander")))
	bad("other-key", "by another key", "S-3", mismatch, ed25519.Sign(ben.private, message))
	bad("63", "a signature of 63 bytes", "S-2", encoding, honest[:63])
	bad("65", "a signature of 65 bytes", "S-2", encoding, append(honest[:64:64], 0))
	bad("empty", "no signature", "S-2", encoding, nil)
	for bit := 0; bit < 512; bit += 37 {
		outcome := mismatch
		if bit >= 508 || !decodes(flip(honest, bit/8, byte(bit%8))[:32]) {
			outcome = encoding
		}
		bad(fmt.Sprintf("bit-%d", bit), "one bit is another", "S-3", outcome, flip(honest, bit/8, byte(bit%8)))
	}
	put(fault{slug: "key-small-order", about: "0 as signature under the key of order 1, which would hold for every message", req: "S-1", outcome: "signature.ErrSmallOrder"}.malicious(),
		hexBytes(smallOrder[0]), message, append(hexBytes(smallOrder[0]), make([]byte, 32)...))
}

// decodes says whether bytes are a point.
func decodes(b []byte) bool {
	_, err := new(edwards25519.Point).SetBytes(b)
	return err == nil
}

// keyVectors are public keys.
func (s *suite) keyVectors() {
	put := func(f fault, key []byte) { s.add(signaturesFile, s.vector("public-key", "", f, key)) }
	bad := func(slug, about, outcome string, key []byte) {
		put(fault{slug: slug, about: about, req: "S-1", outcome: outcome}.malicious(), key)
	}
	put(ok("good", "Ada's", "S-1"), ada.public)
	mixed, _ := skewed(ada.private, point(hexBytes(smallOrder[orderEight])), edwards25519.NewIdentityPoint(), nil)
	put(ok("mixed-order", "a key with a component of order 8, which is permitted", "S-1"), mixed)
	for n, key := range smallOrder {
		bad(fmt.Sprintf("small-order-%d", n), "a point of small order", "signature.ErrSmallOrder", hexBytes(key))
	}
	for n, key := range notCanonical {
		bad(fmt.Sprintf("not-canonical-%d", n), "not the canonical encoding of a point", "signature.ErrKeyEncoding", hexBytes(key))
	}
	bad("no-point", "no point has this y", "signature.ErrKeyEncoding", append([]byte{2}, make([]byte, 31)...))
	bad("31", "31 bytes", "signature.ErrKeyEncoding", ada.public[:31])
	bad("33", "33 bytes", "signature.ErrKeyEncoding", append(ada.public[:32:32], 0))
	bad("empty", "no bytes", "signature.ErrKeyEncoding", nil)
}

const cborFile = "cbor.json"

// cborVectors are items as such, read with the bounds of a token's payload: 4096
// bytes, depth 16, 4096 items.
func (s *suite) cborVectors() {
	s.open(cborFile, "CBOR with at most 4096 bytes, depth 16 and 4096 items: protocol.md, chapter 3.")
	s.goodItems()
	s.itemBounds()
	s.badItems()
	s.itemLies()
}

func (s *suite) item(f fault, data []byte) {
	v := s.vector("cbor", "", f, data)
	v.Diagnostic = diagnostic(data)
	s.add(cborFile, v)
}

func (s *suite) badItem(slug, about, cause string, data ...byte) {
	s.item(fault{slug: slug, about: about, req: "C-2", outcome: cause}, data)
}

// goodItems are read.
func (s *suite) goodItems() {
	good := func(slug, about string, i item) { s.item(ok(slug, about, "C-1"), encode(i)) }
	for _, n := range []uint64{0, 23, 24, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, 1<<64 - 1} {
		good(fmt.Sprintf("uint-%d", n), "a number at a bound of its length", uintOf(n))
		good(fmt.Sprintf("negative-%d", n), "a negative number at a bound of its length", item{Major: cddl.Negative, Arg: n})
	}
	good("true", "true", boolean(true))
	good("false", "false", boolean(false))
	good("null", "null", null)
	good("text", "text beyond ASCII", text("Wänder 旅"))
	good("sorted", "map keys ascending by their encoding, not by their value", dict(uintOf(100), null, negative(1), null, text("z"), null, text("aa"), null, boolean(false), null))
	good("depth-16", "16 arrays in each other", nested(uintOf(0), 16))
	good("depth-16-empty", "16 arrays in each other, the innermost empty", nested(array(), 15))
	good("items-4094", "as many items as 4096 bytes can have in one array", times(4093, uintOf(0)))
}

// itemBounds are items at a bound and beyond it.
func (s *suite) itemBounds() {
	bad := s.badItem
	bad("depth-17", "17 arrays in each other", "canonical.ErrTooDeep", encode(nested(uintOf(0), 17))...)
	bad("depth-17-empty", "17 arrays in each other, the innermost empty", "canonical.ErrTooDeep", encode(nested(array(), 16))...)
	bad("depth-1000", "1000 arrays in each other", "canonical.ErrTooDeep", append(repeat(0x81, 1000), 0)...)
	s.item(ok("bytes-4096", "4096 bytes", "C-3"), encode(bstr(make([]byte, 4093))))
	bad("bytes-4097", "4097 bytes", "canonical.ErrTooLarge", encode(bstr(make([]byte, 4094)))...)
}

// badItems are cut off, or not spelled as deterministic encoding has it.
func (s *suite) badItems() {
	bad := s.badItem
	bad("empty", "nothing", "canonical.ErrTruncated")
	bad("head-short", "a head without its argument", "canonical.ErrTruncated", 0x19, 0x01)
	bad("string-short", "a string that ends early", "canonical.ErrTruncated", 0x43, 1, 2)
	bad("array-short", "an array that ends early", "canonical.ErrTruncated", 0x82, 1)
	bad("map-short", "a key without its value", "canonical.ErrTruncated", 0xa1, 1)
	bad("two", "two items", "canonical.ErrTrailing", 0, 0)
	bad("break", "a break outside of anything", "canonical.ErrIndefinite", 0xff)
	bad("indefinite-bytes", "a byte string of indefinite length", "canonical.ErrIndefinite", 0x5f, 0x41, 1, 0xff)
	bad("indefinite-text", "a text of indefinite length", "canonical.ErrIndefinite", 0x7f, 0x61, 'a', 0xff)
	bad("indefinite-array", "an array of indefinite length", "canonical.ErrIndefinite", 0x9f, 0, 0xff)
	bad("indefinite-map", "a map of indefinite length", "canonical.ErrIndefinite", 0xbf, 0, 0, 0xff)
	bad("long-8", "23 in two bytes", "canonical.ErrNotShortest", 0x18, 23)
	bad("long-16", "255 in three bytes", "canonical.ErrNotShortest", 0x19, 0, 255)
	bad("long-32", "65535 in five bytes", "canonical.ErrNotShortest", 0x1a, 0, 0, 255, 255)
	bad("long-64", "2^32-1 in nine bytes", "canonical.ErrNotShortest", 0x1b, 0, 0, 0, 0, 255, 255, 255, 255)
	bad("keys-descending", "map keys that descend", "canonical.ErrUnsorted", 0xa2, 2, 0, 1, 0)
	bad("keys-twice", "a map key twice", "canonical.ErrUnsorted", 0xa2, 1, 0, 1, 0)
	bad("keys-length-first", "map keys ascending as RFC 7049 had it, shorter ones first", "canonical.ErrUnsorted", 0xa2, 0x20, 0, 0x18, 100, 0)
	bad("utf8-surrogate", "a surrogate in UTF-8", "canonical.ErrUTF8", 0x63, 0xed, 0xa0, 0x80)
	bad("utf8-long", "a character in too many bytes", "canonical.ErrUTF8", 0x62, 0xc0, 0xaf)
	bad("utf8-cut", "half of a character", "canonical.ErrUTF8", 0x61, 0xc3)
	bad("tag", "a tag", "canonical.ErrTag", 0xc1, 0)
	bad("tag-18", "the tag of an envelope", "canonical.ErrTag", 0xd2, 0x80)
	bad("tag-bignum", "a big number", "canonical.ErrTag", 0xc2, 0x41, 1)
	for _, data := range [][]byte{{0xf9, 0, 0}, {0xfa, 0, 0, 0, 0}, {0xfb, 0, 0, 0, 0, 0, 0, 0, 0}} {
		bad(fmt.Sprintf("float-%d", 8*(len(data)-1)), "floating point", "canonical.ErrType", data...)
	}
	bad("undefined", "undefined", "canonical.ErrType", 0xf7)
	bad("simple-0", "a simple value without a meaning", "canonical.ErrType", 0xe0)
	bad("simple-255", "a simple value in two bytes", "canonical.ErrType", 0xf8, 255)
	for major := range byte(7) {
		for info := byte(28); info < 31; info++ {
			bad(fmt.Sprintf("reserved-%d-%d", major, info), "a reserved head", "canonical.ErrType", major<<5|info)
		}
	}
}

// itemLies claim more than is there.
func (s *suite) itemLies() {
	for major := byte(2); major < 6; major++ {
		s.item(fault{
			slug: fmt.Sprintf("lie-%d", major), about: "a length of 2^63-1", req: "C-3", outcome: "canonical.ErrTruncated",
		}.malicious(), []byte{major<<5 | 27, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
		s.item(fault{
			slug: fmt.Sprintf("million-%d", major), about: "a million of what is not there", req: "C-3", outcome: "canonical.ErrTruncated",
		}.malicious(), []byte{major<<5 | 26, 0, 0x0f, 0x42, 0x40})
	}
}

// nested is an item within so many arrays.
func nested(i item, depth int) item {
	for range depth {
		i = array(i)
	}
	return i
}
