package main

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/wandertoken/wander/spec/vector"
)

const (
	permitFile       = "permit.json"
	presentationFile = "presentation.json"
)

// The session of the statements.
var (
	gateID   = repeat(8, 16)
	exporter = repeat(9, 32)
)

// statementPayload is Ada's, about hop 3 of theWalk.
func statementPayload() item {
	return array(text(resourceName), uintOf(0), bstr(theWalk.genesis.hash()), uintOf(3), bstr(theWalk.third.hash()), bstr(ada.id),
		bstr(gateID), bstr(exporter), uintOf(2), uintOf(8), uintOf(4000), dict())
}

func statementObject() *object {
	const malformed = "permit.ErrStatement"
	o := ofToken("statement", statementPayload(), ada, 11)
	o.malformed, o.signature, o.unknownSigner, o.wrongKeyID = malformed, "permit.ErrSignature", "permit.ErrPresenter", "permit.ErrPresenter"
	o.edits = []edit{
		good("resource-64", "a resource name of 64 bytes", "O-1", text(strings.Repeat("r", 64)), 0),
		bad("resource-65", "a resource name of 65 bytes", "O-1", malformed, text(strings.Repeat("r", 65)), 0),
		bad("resource-empty", "no resource", "O-1", malformed, text(""), 0),
		good("hop-0", "about the generator's custody", "O-1", uintOf(0), 3),
		good("hop-most", "about the highest hop", "O-1", uintOf(1<<48), 3),
		bad("hop-above", "about a hop above the highest one", "O-1", malformed, uintOf(1<<48+1), 3),
		bad("of-another", "of another holder than the signer", "E-2", "permit.ErrPresenter", bstr(cleo.id), 5).harmful(),
		bad("number-0", "no number", "O-1", malformed, uintOf(0), 8),
		bad("configuration-0", "no configuration", "O-1", malformed, uintOf(0), 9),
		bad("length-0", "a session of no length", "O-1", malformed, uintOf(0), 10),
	}
	return o
}

// certificateBy is a member's certificate by a CA.
func certificateBy(ca, of *party) item {
	return bstr(sign(certificatePayload(of), "certificate", ca).raw)
}

// permitOf is a permit; objects are transfer, void, previous and previous void, nil where there is none.
func permitOf(genesis envelope, transfer, void, previous, previousVoid *envelope, signers ...*party) item {
	raw := func(e *envelope) item {
		if e == nil {
			return bstr(nil)
		}
		return bstr(e.raw)
	}
	certificates := array()
	for _, p := range signers {
		certificates.Items = append(certificates.Items, certificateBy(firstCA, p))
	}
	return array(bstr(groupID), bstr(genesis.raw), raw(transfer), raw(void), raw(previous), raw(previousVoid), certificates)
}

// permitVectors are permits, and statements that come with one.
func (s *suite) permitVectors() {
	permits(s)
	presentations(s)
}

// thirdPermit is Ada's at hop 3, after a void.
func thirdPermit() item {
	w := theWalk
	return permitOf(w.genesis, &w.third, nil, &w.second, &w.void, ada, ben, cleo)
}

// permitSuite puts permits into their file.
type permitSuite struct {
	*suite
	second, third item // good ones, of hops 2 and 3
}

func (s permitSuite) put(f fault, i item) {
	v := s.vector("permit", "permit", f, encode(i))
	v.Diagnostic = diagnostic(encode(i))
	s.add(permitFile, v)
}

func (s permitSuite) wrong(slug, about, req, outcome string, i item) {
	s.put(fault{slug: slug, about: about, req: req, outcome: outcome}, i)
}

func (s permitSuite) harm(slug, about, req, outcome string, i item) {
	s.put(fault{slug: slug, about: about, req: req, outcome: outcome}.malicious(), i)
}

// permits are good ones of each hop, malformed ones, and forged ones.
func permits(s *suite) {
	s.open(permitFile, "Permits: permit.md.")
	w := theWalk
	p := permitSuite{s, permitOf(w.genesis, &w.second, nil, &w.first, nil, ada, ben, cleo), thirdPermit()}
	p.put(ok("hop-0", "of the generator", "V-6"), permitOf(w.genesis, nil, nil, nil, nil, ada))
	p.put(ok("hop-1", "of the first receiver", "V-6"), permitOf(w.genesis, &w.first, nil, nil, nil, ada, ben))
	p.put(ok("hop-2", "of the second one", "V-6"), p.second)
	p.put(ok("returned", "of a sender to whom the token came back", "V-6"), permitOf(w.genesis, &w.second, &w.void, &w.first, nil, ada, ben, cleo))
	p.put(ok("after-void", "of a receiver, after a void", "V-6"), p.third)
	p.malformed()
	p.forged()
	p.miscertified()
	s.unsigned(permitFile, unsigned{
		object: "permit", rule: "permit", prefix: "shape", item: p.third, req: "V-1", outcome: malformedPermit, depth: 1, shaped: [][]int{nil}, free: fields(1, 2, 3, 4, 5, 6),
	})
}

const malformedPermit = "permit.ErrMalformed"

// malformed are those that are no permits by their form.
func (p permitSuite) malformed() {
	const malformed = malformedPermit
	w := theWalk
	p.wrong("no-genesis", "no genesis", "V-1", malformed, with(p.third, bstr(nil), 1))
	p.wrong("void-alone", "a void without a transfer", "V-1", malformed, with(permitOf(w.genesis, nil, nil, nil, nil, ada), bstr(w.void.raw), 3))
	p.wrong("previous-alone", "a transfer before none", "V-1", malformed, with(permitOf(w.genesis, nil, nil, nil, nil, ada), bstr(w.first.raw), 4))
	p.wrong("previous-void-alone", "the void of no previous transfer", "V-1", malformed,
		with(permitOf(w.genesis, &w.first, nil, nil, nil, ada, ben), bstr(w.void.raw), 5))
	p.wrong("no-certificates", "no certificates", "V-1", malformed, with(p.third, array(), 6))
	p.wrong("certificates-5", "five certificates", "V-1", malformed,
		with(p.third, array(certificateBy(firstCA, ada), certificateBy(firstCA, ben), certificateBy(firstCA, cleo), certificateBy(firstCA, ada), certificateBy(firstCA, ben)), 6))
	p.wrong("object-large", "an object of 4353 bytes", "V-2", malformed, with(p.third, bstr(repeat(0, 4353)), 2))
	p.wrong("large", "more than all objects together may have", "V-2", malformed, with(p.third, bstr(repeat(0, 40000)), 2))
	p.wrong("other-group", "of another group", "V-3", "permit.ErrGroup", with(p.third, bstr(otherGroup), 0))
}

// forged are those that a liar makes.
func (p permitSuite) forged() {
	const chain, forged = "token.ErrChain", "token.ErrSignature"
	w := theWalk
	unknown := array(certificateBy(firstCA, ada), certificateBy(firstCA, ben), certificateBy(unknownCA, cleo))
	p.harm("other-ca", "a certificate by another CA", "V-4", "certificate.ErrUnknownCA", with(p.third, unknown, 6))
	self := array(certificateBy(firstCA, ada), certificateBy(firstCA, ben), bstr(as(encode(certificatePayload(cleo)), "certificate", firstCA).signedBy(cleo).seal().raw))
	p.harm("own-certificate", "a certificate that its member has signed in the CA's name", "V-4", "certificate.ErrSignature", with(p.third, self, 6))

	asGate := array(certificateBy(firstCA, ada), certificateBy(firstCA, ben), bstr(sign(gatePayload(cleo), "certificate", firstCA).raw))
	p.harm("gate", "a signer that is a gate", "O-24", "certificate.ErrRole", with(p.third, asGate, 6))

	byCleo := as(encode(w.thirdHop.payload()), "transfer", ben).signedBy(cleo).seal()
	p.harm("forged-hop", "a hop that somebody signs in the holder's name", "V-5", forged, with(p.third, bstr(byCleo.raw), 2))
	swapped := w.secondHop
	swapped.to = ada
	stolen := bytes.Clone(swapped.sign().raw)
	copy(stolen[len(stolen)-64:], w.second.raw[len(w.second.raw)-64:])
	p.harm("swapped-holder", "another receiver under the sender's signature", "V-5", forged, with(p.second, bstr(stolen), 2))
	p.harm("signer-missing", "the certificate of a signer is missing", "V-5", "token.ErrUnknownSigner",
		with(p.third, array(certificateBy(firstCA, ada), certificateBy(firstCA, cleo)), 6))
	receipt := receiptOfSecond()
	p.harm("receipt-as-void", "a receipt in place of the void", "V-5", forged, with(p.third, bstr(receipt.raw), 5))

	foreign := sign(with(genesisPayload(ada), uintOf(6), 4), "genesis", ada)
	p.harm("foreign-genesis", "the genesis of another token", "V-6", chain, with(p.third, bstr(foreign.raw), 1))
	far := w.thirdHop
	far.hop = 1 << 40
	p.harm("invented-hop", "a hop far beyond the transfer before it", "V-6", chain, with(p.third, bstr(far.sign().raw), 2))
	p.harm("no-previous", "the transfer before it is missing", "V-6", chain, with(p.second, bstr(nil), 4))
	p.harm("void-left-out", "the void is named and not shown", "V-6", chain, with(p.third, bstr(nil), 5))
	byBen := sign(answerPayload(w.second, w.secondHop, ben, incarnation), "void", ben)
	p.harm("own-void", "the sender declines for the receiver", "V-6", chain, with(p.second, bstr(byBen.raw), 3))
}

// miscertified are those whose certificates are not those of the signers and the holder, in their order.
func (p permitSuite) miscertified() {
	w := theWalk
	p.wrong("certificate-missing", "the certificate of the holder, who has signed nothing, is missing", "V-7", "permit.ErrCertificates",
		permitOf(w.genesis, &w.second, nil, &w.first, nil, ada, ben))
	p.wrong("certificate-spare", "the certificate of somebody else", "V-7", "permit.ErrCertificates", permitOf(w.genesis, &w.first, nil, nil, nil, ada, ben, cleo))
	p.wrong("certificates-order", "certificates in another order", "V-7", "permit.ErrCertificates", permitOf(w.genesis, &w.first, nil, nil, nil, ben, ada))
}

// presentations are statements about a permit.
func presentations(s *suite) {
	third := thirdPermit()
	s.open(presentationFile, "Statements that come with a permit, for a session at a gate: permit.md. The session is in \"with\".")
	present := func(f fault, e envelope, permit item, gate, exporter []byte, number uint64) {
		v := s.vector("presentation", "signed-statement", f, e.raw)
		v.Signed, v.Diagnostic = e.explained(), diagnostic(e.payload)
		v.With = map[string]vector.Bytes{
			"permit": encode(permit), "gate": gate, "exporter": exporter, "number": binary.BigEndian.AppendUint64(nil, number),
		}
		s.add(presentationFile, v)
	}
	statement := sign(statementPayload(), "statement", ada)
	present(ok("good", "by the holder, in its session", "V-13"), statement, third, gateID, exporter, 2)
	relayed := func(slug, about, req, outcome string, gate, exporter []byte, number uint64) {
		present(fault{slug: slug, about: about, req: req, outcome: outcome}.malicious(), statement, third, gate, exporter, number)
	}
	relayed("relayed-gate", "to another gate", "V-15", "permit.ErrGate", repeat(7, 16), exporter, 2)
	relayed("relayed-connection", "over another connection", "V-15", "permit.ErrExporter", gateID, repeat(7, 32), 2)
	relayed("again", "once more", "V-16", "permit.ErrNumber", gateID, exporter, 3)
	relayed("ahead", "with a number ahead", "V-16", "permit.ErrNumber", gateID, exporter, 1)
	other := func(slug, about, req, outcome string, by *party, change func(p *item)) {
		e := sign(changed(statementPayload(), change), "statement", by)
		present(fault{slug: slug, about: about, req: req, outcome: outcome}.malicious(), e, third, gateID, exporter, 2)
	}
	set := func(value item, path ...int) func(*item) { return func(p *item) { *at(p, path...) = value } }
	other("former-holder", "by the member that gave the token away", "V-13", "permit.ErrPresenter", ben, set(bstr(ben.id), 5))
	other("resource", "about another resource", "V-14", "permit.ErrTitle", ada, set(text("tape"), 0))
	other("slot", "about another slot", "V-14", "permit.ErrTitle", ada, set(uintOf(1), 1))
	other("token", "about another token", "V-14", "permit.ErrTitle", ada, set(bstr(repeat(1, 32)), 2))
	other("hop", "about another hop", "V-14", "permit.ErrTitle", ada, set(uintOf(4), 3))
	other("title", "about another transfer of the hop", "V-14", "permit.ErrTitle", ada, set(bstr(theWalk.second.hash()), 4))
	inName := as(encode(statementPayload()), "statement", ada).signedBy(ben).seal()
	present(fault{slug: "in-its-name", about: "by another in the holder's name", req: "V-13", outcome: "permit.ErrSignature"}.malicious(),
		inName, third, gateID, exporter, 2)
}

// signedBy is signed with the key of another.
func (s signing) signedBy(p *party) signing {
	s.by = p
	return s
}
