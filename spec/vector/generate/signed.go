package main

import (
	"crypto/ed25519"
	"fmt"

	"github.com/wandertoken/wander/spec/vector"
)

// object is a kind of signed object: from one good payload all that can be
// wrong with it is derived.
type object struct {
	name    string // what it is read as
	kind    string // what it is signed as
	payload item
	by      *party
	// What it is refused with.
	malformed, signature, unknownSigner, wrongKeyID string
	free, optional                                  map[int]bool
	extensions                                      []int // where they are; nil: none in an array
	edits                                           []edit
}

// edit is one change of the payload that gives it another meaning.
type edit struct {
	fault
	change func(p *item)
}

func (o *object) rule() string {
	switch o.name {
	case "receipt", "void", "unknown":
		return "signed-answer"
	}
	return "signed-" + o.name
}

func (o *object) file() string {
	if o.rule() == "signed-answer" {
		return "answer.json"
	}
	return o.name + ".json"
}

// addSigned adds an envelope taken apart.
func (s *suite) addSigned(o *object, f fault, e envelope) {
	v := s.vector(o.name, o.rule(), f, e.raw)
	v.Signed, v.Diagnostic = e.explained(), diagnostic(e.payload)
	s.add(o.file(), v)
}

// addRaw adds an input that is no envelope any more, or one that nothing more is
// to be said of.
func (s *suite) addRaw(o *object, f fault, raw []byte) {
	s.add(o.file(), s.vector(o.name, o.rule(), f, raw))
}

// signedObject adds all vectors of an object.
func (s *suite) signedObject(o *object) {
	s.open(o.file(), "Signed objects of the kind "+o.kind+": protocol.md, chapters 5 and 6.")
	if o.rule() == "signed-answer" {
		s.files[o.file()].About = "Receipts, voids and unknowns: protocol.md, chapters 5 and 6.9."
	}
	if text, elsewhere := map[string]string{"request": "enrolment.md", "complaint": "journal.md", "statement": "permit.md", "gate-answer": "gate.md"}[o.kind]; elsewhere {
		s.files[o.file()].About = "Signed objects of the kind " + o.kind + ": protocol.md, chapter 5, and " + text + "."
	}
	s.addSigned(o, ok("good", "as its signer makes it", "O-1"), sign(o.payload, o.kind, o.by))
	for _, e := range o.edits {
		s.addSigned(o, e.fault, sign(changed(o.payload, e.change), o.kind, o.by))
	}
	if o.extensions != nil {
		s.extensions(o)
	}
	s.payloads(o)
	s.envelopes(o)
	s.signatures(o)
}

// extensions are the rules of C-5.
func (s *suite) extensions(o *object) {
	value := func(n int) item { return bstr(repeat(0xee, n)) }
	put := func(slug, about, outcome, cause string, m item) {
		f := fault{slug: slug, about: about, req: "C-5", outcome: outcome, cause: cause}
		if outcome == vector.Valid {
			f.class = vector.ClassValid
		}
		s.addSigned(o, f, sign(with(o.payload, m, o.extensions...), o.kind, o.by))
	}
	eight := dict()
	for n := range uint64(8) {
		eight.Items = append(eight.Items, uintOf(2*n+3), uintOf(n))
	}
	put("extension-odd", "an unknown odd extension is kept and ignored", vector.Valid, "", dict(uintOf(7), array(uintOf(1), text("x"))))
	put("extension-8", "as many extensions as there may be", vector.Valid, "", eight)
	put("extension-256", "an extension of 256 bytes", vector.Valid, "", dict(uintOf(9), value(254)))
	put("extension-257", "an extension of 257 bytes", o.malformed, "canonical.ErrTooLarge", dict(uintOf(9), value(255)))
	put("extension-even", "an unknown even extension", o.malformed, "canonical.ErrExtension", dict(uintOf(2), uintOf(0)))
	put("extension-zero", "the even extension 0", o.malformed, "canonical.ErrExtension", dict(uintOf(0), uintOf(0)))
	put("extension-9", "one extension too many", o.malformed, "canonical.ErrTooMany", dict(append(clone(eight).Items, uintOf(31), uintOf(9))...))
	put("extension-unsorted", "extensions in another order", o.malformed, "canonical.ErrUnsorted", dict(uintOf(5), uintOf(0), uintOf(3), uintOf(0)))
	put("extension-twice", "one extension twice", o.malformed, "canonical.ErrUnsorted", dict(uintOf(5), uintOf(0), uintOf(5), uintOf(1)))
	put("extension-text", "a text as key", o.malformed, "", dict(text("5"), uintOf(0)))
	put("extension-negative", "a negative number as key", o.malformed, "", dict(negative(1), uintOf(0)))
	f := fault{slug: "extension-deep", about: "an extension that nests 40 arrays", req: "C-3", outcome: o.malformed, cause: "canonical.ErrTooDeep"}
	s.addSigned(o, f.malicious(), sign(with(o.payload, dict(uintOf(5), nested(uintOf(0), 40)), o.extensions...), o.kind, o.by))
}

// payloads are payloads that are encoded wrongly or have another shape, rightly
// signed.
func (s *suite) payloads(o *object) {
	for _, p := range spellings(o.payload, 1) {
		s.addRaw(o, p.as("payload-", "payload, ", o.malformed), as(p.data, o.kind, o.by).seal().raw)
	}
	f := fault{slug: "payload-empty", about: "no payload", req: "C-2", outcome: o.malformed, cause: "canonical.ErrTruncated"}
	s.addRaw(o, f, as(nil, o.kind, o.by).seal().raw)
	if o.payload.Major != array().Major {
		return
	}
	for _, p := range shapes(o.payload, nil, o.free, o.optional) {
		f := fault{slug: "shape-" + p.slug, about: "payload, " + p.about, req: "C-4", outcome: o.malformed}
		s.addRaw(o, f, sign(p.item, o.kind, o.by).raw)
	}
	f = fault{slug: "shape-map", about: "a map in place of the array", req: "C-4", outcome: o.malformed}
	s.addRaw(o, f, sign(dict(uintOf(0), o.payload.Items[0]), o.kind, o.by).raw)
}

// envelopes are envelopes that are wrong in one place.
func (s *suite) envelopes(o *object) {
	good := sign(o.payload, o.kind, o.by)
	protected := bstr(protectedHeader(o.by.id))
	payload, sig := bstr(good.payload), bstr(good.sig)
	put := func(slug, about, cause string, raw []byte) {
		s.addRaw(o, fault{slug: "envelope-" + slug, about: about, req: "E-1", outcome: o.malformed, cause: cause}, raw)
	}
	untagged := encode(array(protected, dict(), payload, sig))
	four := func(fields ...item) []byte { return encode(tag(18, array(fields...))) }
	put("empty", "nothing at all", "envelope.ErrTruncated", nil)
	put("untagged", "without the tag", "envelope.ErrTag", untagged)
	put("tag-17", "tag 17, a COSE_Mac0", "envelope.ErrTag", encode(tag(17, array(protected, dict(), payload, sig))))
	put("tag-long", "the tag with a head that is longer than needed", "envelope.ErrTag", append([]byte{0xd8, 18}, untagged...))
	put("array-5", "an array of five", "envelope.ErrTag", four(protected, dict(), payload, sig, null))
	put("array-indefinite", "an array of indefinite length", "envelope.ErrTag", append(append([]byte{0xd2, 0x9f}, untagged[1:]...), 0xff))
	put("algorithm", "another algorithm (-7)", "envelope.ErrHeader", four(bstr(encode(dict(uintOf(1), negative(7), uintOf(4), bstr(o.by.id)))), dict(), payload, sig))
	put("no-key-id", "no key id", "envelope.ErrHeader", four(bstr(encode(dict(uintOf(1), negative(8)))), dict(), payload, sig))
	put("key-id-15", "a key id of 15 bytes", "envelope.ErrHeader", four(bstr(protectedHeader(o.by.id[:15])), dict(), payload, sig))
	put("critical", "one more protected header", "envelope.ErrHeader", four(bstr(encode(dict(uintOf(1), negative(8), uintOf(3), uintOf(0), uintOf(4), bstr(o.by.id)))), dict(), payload, sig))
	put("unprotected", "an unprotected header", "envelope.ErrHeader", four(protected, dict(uintOf(4), bstr(o.by.id)), payload, sig))
	put("detached", "the payload is null", "envelope.ErrPayload", four(protected, dict(), null, sig))
	put("payload-text", "the payload is a text", "envelope.ErrPayload", four(protected, dict(), item{Major: text("").Major, Data: []byte("payload")}, sig))
	put("payload-indefinite", "the payload has an indefinite length", "envelope.ErrPayload", envelopeOf(protected, indefinite(payload, 0x5f).data, encode(sig)))
	put("payload-long-head", "the payload's head is longer than needed", "envelope.ErrPayload", envelopeOf(protected, longPayload(good.payload), encode(sig)))
	most, lie := 16384, "envelope.ErrPayload" // a head of five bytes says what no small payload can have
	if o.kind == "configuration" {
		most, lie = 262144, "envelope.ErrTooLarge"
	}
	put("payload-lie", "the payload claims 4 GiB", lie, envelopeOf(protected, append([]byte{0x5a, 0xff, 0xff, 0xff, 0xff}, good.payload...), encode(sig)))
	put("payload-large", fmt.Sprintf("a payload of %d bytes", most+1), "envelope.ErrTooLarge", as(repeat(0, most+1), o.kind, o.by).seal().raw)
	put("signature-63", "a signature of 63 bytes", "envelope.ErrSignatureSize", four(protected, dict(), payload, bstr(good.sig[:63])))
	put("signature-65", "a signature of 65 bytes", "envelope.ErrSignatureSize", four(protected, dict(), payload, bstr(append([]byte{0}, good.sig...))))
	put("signature-null", "no signature", "envelope.ErrSignatureSize", append(four(protected, dict(), payload, null), 0))
	put("trailing", "one byte behind it", "envelope.ErrTrailing", append(append([]byte{}, good.raw...), 0))
	for _, n := range []int{1, 5, 24, len(good.raw) - 65, len(good.raw) - 1} {
		put(fmt.Sprintf("truncated-%d", len(good.raw)-n), fmt.Sprintf("the last %d bytes are missing", len(good.raw)-n), "envelope.ErrTruncated", good.raw[:n])
	}
}

// envelopeOf is an envelope whose payload is encoded already.
func envelopeOf(protected item, payload, sig []byte) []byte {
	out := append([]byte{0xd2, 0x84}, encode(protected)...)
	return append(append(append(out, 0xa0), payload...), sig...)
}

// longPayload is a payload under the next longer head.
func longPayload(payload []byte) []byte { return append(longHead(bstr(payload)), payload...) }

// signatures are objects whose signature does not hold, or holds for something
// else.
func (s *suite) signatures(o *object) {
	good := as(encode(o.payload), o.kind, o.by)
	put := func(slug, about, req, cause string, change func(*signing)) {
		c := good
		change(&c)
		f := fault{slug: "signature-" + slug, about: about, req: req, outcome: o.signature, cause: cause}
		s.addSigned(o, f.malicious(), c.seal())
	}
	const mismatch, encoding = "signature.ErrMismatch", "signature.ErrEncoding"
	made := func(change func(sig []byte) []byte) func(*signing) {
		return func(c *signing) {
			c.signature = func(tbs []byte) []byte { return change(ed25519.Sign(c.by.private, tbs)) }
		}
	}
	put("other-key", "made with another key", "E-5", mismatch, func(c *signing) { c.by = dora })
	put("other-group", "made for another group", "E-4", mismatch, func(c *signing) { c.group = otherGroup })
	put("other-version", "made for version 2 of the protocol", "E-4", mismatch, func(c *signing) { c.version = 2 })
	for _, kind := range []string{
		"certificate", "authority", "configuration", "revocation", "endpoint", "genesis", "transfer",
		"receipt", "void", "unknown", "leave", "failure", "request", "complaint", "statement", "gate-answer",
	} {
		if kind != o.kind {
			put("kind-"+kind, "made for the kind "+kind, "E-4", mismatch, func(c *signing) { c.kind = kind })
		}
	}
	put("bare", "over the payload alone", "E-3", mismatch, func(c *signing) {
		c.signature = func([]byte) []byte { return ed25519.Sign(c.by.private, c.payload) }
	})
	put("bit-s", "one bit of S is another", "S-3", mismatch, made(func(sig []byte) []byte { return flip(sig, 40, 3) }))
	put("bit-payload", "one bit of what was signed is another", "S-3", mismatch, func(c *signing) {
		c.signature = func(tbs []byte) []byte { return ed25519.Sign(c.by.private, flip(tbs, len(tbs)-1, 0)) }
	})
	put("zero", "64 zero bytes: R of small order, S = 0", "S-3", mismatch, made(func([]byte) []byte { return make([]byte, 64) }))
	put("s-plus-l", "S + L in place of S", "S-2", encoding, made(plusOrder))
	put("r-not-canonical", "R with y = p + 1", "S-2", encoding, made(func(sig []byte) []byte { return append(hexBytes(identityNotCanonical), sig[32:]...) }))
	f := fault{slug: "key-id-unknown", about: "the key id of somebody unknown", req: "E-2", outcome: o.unknownSigner}
	unknown := good
	unknown.keyID, unknown.by = dora.id, dora
	if o.by.authority {
		unknown.keyID, unknown.by = unknownCA.id, unknownCA
	}
	s.addSigned(o, f, unknown.seal())
	f = fault{slug: "key-id-other", about: "the key id of somebody else who could sign, too", req: "E-2", outcome: o.wrongKeyID}
	other := good
	other.keyID = cleo.id
	if o.by.authority {
		other.keyID = secondCA.id
	}
	s.addSigned(o, f.malicious(), other.seal())
}
