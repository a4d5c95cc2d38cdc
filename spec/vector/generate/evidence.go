package main

import (
	"bytes"
	"slices"
)

const evidenceFile = "evidence.json"

// The kinds of evidence.
const (
	kindFork          = 1
	kindContradiction = 2
	kindReclaimed     = 3
	kindDoubleMint    = 4
	kindMisfit        = 5
	kindTwoAnswers    = 6
	kindNumberTwice   = 7
)

// proof is evidence in the making.
func proof(kind uint64, accused *party, objects ...[]byte) item {
	list := array()
	for _, o := range objects {
		list.Items = append(list.Items, bstr(o))
	}
	return array(uintOf(kind), bstr(groupID), bstr(accused.id), array(bstr(statementOf(firstCA).raw)),
		bstr(sign(certificatePayload(accused), "certificate", firstCA).raw), list)
}

// ordered is two objects of one kind in the order of their hashes.
func ordered(a, b envelope) [][]byte {
	list := []envelope{a, b}
	slices.SortFunc(list, func(a, b envelope) int { return bytes.Compare(a.hash(), b.hash()) })
	return [][]byte{list[0].raw, list[1].raw}
}

// blanked is an object with 64 zero bytes as signature.
func blanked(e envelope) []byte {
	return append(bytes.Clone(e.raw[:len(e.raw)-64]), make([]byte, 64)...)
}

// evidenceVectors are evidence-files.
func (s *suite) evidenceVectors() {
	s.open(evidenceFile, "Evidence against members and gates: journal.md.")
	w := theWalk
	again := w.firstHop
	again.to, again.accept = cleo, 9
	fork := ordered(w.first, again.sign())
	forked := proof(kindFork, ada, fork...)
	put := func(f fault, i item) {
		v := s.vector("evidence", "evidence-file", f, encode(i))
		v.Diagnostic = diagnostic(encode(i))
		s.add(evidenceFile, v)
	}
	s.unsigned(evidenceFile, unsigned{
		object: "evidence", rule: "evidence-file", prefix: "fork", item: forked, req: "K-5", outcome: "evidence.ErrMalformed",
		depth: 1, shaped: [][]int{nil}, free: fields(4),
	},
		bad("kind-0", "kind 0", "K-4", "evidence.ErrKind", uintOf(0), 0),
		bad("kind-8", "kind 8, of a later version", "K-4", "evidence.ErrKind", uintOf(8), 0),
		bad("other-kind", "two transfers as void and receipt", "K-5", "evidence.ErrObject", uintOf(kindContradiction), 0).harmful(),
		bad("other-group", "of another group", "K-5", "evidence.ErrGroup", bstr(otherGroup), 1).harmful(),
		bad("other-accused", "against another member than the certificate is of", "K-5", "evidence.ErrAccused", bstr(ben.id), 2).harmful(),
		bad("authorities-0", "without a statement about a CA key", "K-4", "evidence.ErrMalformed", array(), 3),
		bad("authorities-9", "nine statements", "K-4", "evidence.ErrMalformed", times(9, bstr(statementOf(firstCA).raw)), 3),
		bad("authorities-twice", "one statement twice", "K-4", "evidence.ErrAuthority", times(2, bstr(statementOf(firstCA).raw)), 3),
		bad("authorities-no-first", "without the statement about the first key", "K-4", "evidence.ErrAuthority", array(bstr(statementOf(secondCA).raw)), 3),
		bad("authorities-order", "a statement before the one that vouches for it", "K-4", "evidence.ErrAuthority", array(bstr(statementOf(secondCA).raw), bstr(statementOf(firstCA).raw)), 3),
		good("authorities-2", "with a second CA key", "K-4", array(bstr(statementOf(firstCA).raw), bstr(statementOf(secondCA).raw)), 3),
		bad("certificate-forged", "a certificate that the accuser has made", "K-5", "evidence.ErrCertificate", bstr(sign(certificatePayload(ada), "certificate", unknownCA).raw), 4).harmful(),
		bad("too-large", "more than 32768 bytes", "K-4", "evidence.ErrMalformed", bstr(make([]byte, 32768)), 4).because("canonical.ErrTooLarge"),
		bad("objects-1", "one object", "K-4", "evidence.ErrMalformed", array(bstr(fork[0])), 5),
		bad("objects-3", "three objects", "K-4", "evidence.ErrMalformed", array(bstr(fork[0]), bstr(fork[1]), bstr(fork[1])), 5),
		bad("order", "objects in the other order", "K-6", "evidence.ErrOrder", array(bstr(fork[1]), bstr(fork[0])), 5),
		bad("forged", "the signature of one object is another's", "K-5", "evidence.ErrObject", array(bstr(fork[0]), bstr(flip(fork[1], len(fork[1])-1, 0))), 5).harmful(),
		bad("same", "one transfer twice", "K-5", "evidence.ErrNoProof", array(bstr(fork[0]), bstr(fork[0])), 5).harmful(),
	)
	s.proofs(put)
	gateProofs(put)
}

// gateProof is evidence against the gate of the vectors.
func gateProof(kind uint64, objects ...[]byte) item {
	list := array()
	for _, o := range objects {
		list.Items = append(list.Items, bstr(o))
	}
	return array(uintOf(kind), bstr(groupID), bstr(ben.id), array(bstr(statementOf(firstCA).raw)),
		bstr(sign(gatePayload(theGate), "certificate", firstCA).raw), list)
}

// gateProofs are evidence against a gate, and what an honest one may have signed.
func gateProofs(put func(f fault, i item)) {
	says := func(answer []item, edits ...func(*item)) envelope {
		p := gateAnswerPayload(answer)
		for _, e := range edits {
			e(&p)
		}
		return sign(p, "gate-answer", theGate)
	}
	convicts := func(slug, about string, i item) { put(ok(slug, about, "K-5"), i) }
	not := func(slug, about, outcome string, i item) {
		put(fault{slug: slug, about: about, req: "K-5", outcome: outcome}.malicious(), i)
	}
	session := func(number uint64) func(*item) { return func(p *item) { *at(p, 8, 0) = uintOf(number) } }
	signIn := func(number uint64) func(*item) { return func(p *item) { *at(p, 5) = uintOf(number) } }
	resource := func(p *item) { *at(p, 0) = text("tape") }
	opens := says(gateOpens())

	convicts("gate-two-sessions", "a gate has opened two sessions for one sign-in", gateProof(kindTwoAnswers, ordered(opens, says(gateOpens(), session(102)))...))
	convicts("gate-open-and-refuse", "a gate has opened a session for a sign-in, and refused it", gateProof(kindTwoAnswers, ordered(opens, says(gateRefuses(1, nil)))...))
	convicts("gate-number-twice", "a gate has opened one session for two sign-ins", gateProof(kindNumberTwice, ordered(opens, says(gateOpens(), signIn(3)))...))
	convicts("gate-two-holders", "a gate has named two holders of one session", gateProof(kindNumberTwice, ordered(opens, says(gateIsBusy(false), signIn(3)))...))
	not("gate-open-and-closed", "a gate has opened a session and closed it", "evidence.ErrNoProof", gateProof(kindTwoAnswers, ordered(opens, says(gateCloses(1)))...))
	not("gate-two-numbers", "a gate has opened two sessions for two sign-ins", "evidence.ErrNoProof", gateProof(kindNumberTwice, ordered(opens, says(gateOpens(), session(102), signIn(3)))...))
	not("gate-two-resources", "two resources have a session of one number", "evidence.ErrNoProof", gateProof(kindNumberTwice, ordered(opens, says(gateOpens(), signIn(3), resource))...))
	not("gate-refused-later", "a gate has opened a session, and refused a later sign-in", "evidence.ErrNoProof", gateProof(kindTwoAnswers, ordered(opens, says(gateRefuses(1, nil), signIn(3)))...))

	two := ordered(opens, says(gateOpens(), session(102)))
	forged := gateProof(kindTwoAnswers, two[0], flip(two[1], len(two[1])-1, 0))
	put(fault{slug: "gate-forged", about: "the signature of one answer is not the gate's", req: "K-5", outcome: "evidence.ErrObject"}.malicious(), forged)
	put(fault{slug: "gate-order", about: "answers in the other order", req: "K-6", outcome: "evidence.ErrOrder"}, gateProof(kindTwoAnswers, two[1], two[0]))
	member := gateProof(kindTwoAnswers, two...)
	*at(&member, 4) = bstr(sign(certificatePayload(theGate), "certificate", firstCA).raw)
	put(fault{slug: "gate-as-member", about: "the certificate is a member's", req: "K-5", outcome: "evidence.ErrCertificate"}.malicious(), member)
	w := theWalk
	again := w.firstHop
	again.to, again.accept = cleo, 9
	thief := proof(kindFork, ada, ordered(w.first, again.sign())...)
	*at(&thief, 4) = bstr(sign(gatePayload(ada), "certificate", firstCA).raw)
	put(fault{slug: "member-as-gate", about: "the certificate of a fork is a gate's", req: "K-5", outcome: "evidence.ErrCertificate"}.malicious(), thief)
}

// proofs are evidence of the other kinds, and what an honest member may have
// signed.
func (s *suite) proofs(put func(f fault, i item)) {
	w := theWalk
	convicts := func(slug, about string, i item) { put(ok(slug, about, "K-5"), i) }
	not := func(slug, about, outcome string, i item) {
		put(fault{slug: slug, about: about, req: "K-5", outcome: outcome}.malicious(), i)
	}
	receipt := receiptOfSecond()
	convicts("void-and-receipt", "Cleo has declined and taken one transfer", proof(kindContradiction, cleo, w.void.raw, receipt.raw))
	not("void-and-other-receipt", "the void and the receipt of two transfers", "evidence.ErrNoProof",
		proof(kindContradiction, ben, sign(answerPayload(w.second, w.secondHop, ben, incarnation), "void", ben).raw, w.receipt.raw))
	not("void-and-unknown", "a void and an unknown: she may have lost her memory", "evidence.ErrObject", proof(kindContradiction, cleo, w.void.raw, w.unknown.raw))
	not("two-accused", "the void of one and the receipt of another", "evidence.ErrObject", proof(kindContradiction, cleo, w.void.raw, w.receipt.raw))

	onward := hop{token: w.genesis.hash(), hop: 3, from: cleo, to: ada, inc: incarnation, accept: 4, previous: w.second.hash()}.sign()
	convicts("void-and-transfer", "Cleo has declined a token and given it away", proof(kindReclaimed, cleo, w.void.raw, onward.raw))
	not("void-and-own-transfer", "Ben gives on what has come back by a void", "evidence.ErrObject", proof(kindReclaimed, ben, w.void.raw, w.third.raw))

	mint := sign(with(genesisPayload(ada), uintOf(noonMillis+1), 5), "genesis", ada)
	later := sign(with(genesisPayload(ada), uintOf(6), 4), "genesis", ada)
	convicts("two-geneses", "two tokens with one number of one incarnation", proof(kindDoubleMint, ada, ordered(w.genesis, mint)...))
	not("two-numbers", "two tokens with two numbers", "evidence.ErrNoProof", proof(kindDoubleMint, ada, ordered(w.genesis, later)...))

	other := w.secondHop
	other.previous = w.genesis.hash()
	not("two-chains", "two transfers of one hop that name two previous ones: somebody before has forked the token", "evidence.ErrNoProof", proof(kindFork, ben, ordered(w.second, other.sign())...))
	not("two-hops", "two transfers of two hops by one member", "evidence.ErrNoProof", proof(kindFork, ben, ordered(w.second, w.third)...))

	skipping := w.firstHop
	skipping.hop = 2
	convicts("misfit", "a transfer of hop 2 that names the genesis", proof(kindMisfit, ada, skipping.sign().raw, blanked(w.genesis)))
	not("misfit-signed", "the same, and the second object has its signature", "evidence.ErrObject", proof(kindMisfit, ada, skipping.sign().raw, w.genesis.raw))
	not("misfit-fits", "a transfer that follows from the genesis", "evidence.ErrNoProof", proof(kindMisfit, ada, w.first.raw, blanked(w.genesis)))
	not("misfit-not-named", "a genesis that the transfer does not name", "evidence.ErrObject", proof(kindMisfit, ada, w.first.raw, blanked(later)))
}
