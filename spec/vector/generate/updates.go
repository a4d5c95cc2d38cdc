package main

import (
	"github.com/wandertoken/wander/spec/vector"
)

const updatesFile = "updates.json"

// updateVectors are membership updates.
func (s *suite) updateVectors() {
	s.open(updatesFile, "Membership updates: protocol.md, chapter 7.9.")
	const malformed = "update.ErrMalformed"
	certificate := func(p *party) item { return bstr(sign(certificatePayload(p), "certificate", firstCA).raw) }
	kinds := []struct {
		name   string
		update item
		edits  []edit
	}{
		{"join", array(uintOf(1), certificate(ada), bstr(sign(endpointPayload(ada), "endpoint", ada).raw)), []edit{
			good("no-endpoint", "without an endpoint record", "M-10", bstr(nil), 2),
			bad("no-certificate", "without the certificate", "M-10", malformed, bstr(nil), 1),
			bad("later", "of a later version, with more in it and deeper", "M-10", "update.ErrKind", array(uintOf(5), nested(uintOf(0), 15), text("x"), null, bstr(nil), dict())),
			good("largest", "an update of 4096 bytes", "M-10", array(uintOf(1), bstr(make([]byte, 2048)), bstr(make([]byte, 2040)))),
			bad("too-large", "an update of 4097 bytes", "M-10", "update.ErrTooLarge", array(uintOf(1), bstr(make([]byte, 2048)), bstr(make([]byte, 2041)))),
		}},
		{"leave", array(uintOf(2), bstr(sign(leavePayload(ada), "leave", ada).raw), certificate(ada)), []edit{
			bad("no-leave", "without the leave", "M-10", malformed, bstr(nil), 1),
			bad("no-certificate", "without the certificate", "M-10", malformed, bstr(nil), 2),
		}},
		{"failure", array(uintOf(3), bstr(sign(failurePayload(ben, ada), "failure", ben).raw), certificate(ben)), []edit{
			bad("no-statement", "without the statement", "M-10", malformed, bstr(nil), 1),
			bad("no-certificate", "without the witness' certificate", "M-10", malformed, bstr(nil), 2),
		}},
		{"revocation", array(uintOf(4), bstr(sign(revocationPayload(), "revocation", firstCA).raw)), []edit{
			bad("nothing", "without the revocation", "M-10", malformed, bstr(nil), 1),
		}},
	}
	for _, k := range kinds {
		edits := append(k.edits,
			bad("kind-0", "kind 0", "M-10", "update.ErrKind", uintOf(0), 0),
			bad("kind-5", "kind 5, of a later version", "M-10", "update.ErrKind", uintOf(5), 0),
			bad("kind-24", "kind 24, of a later version", "M-10", "update.ErrKind", uintOf(24), 0),
		)
		s.unsigned(updatesFile, unsigned{
			object: "update", rule: "update", prefix: k.name, item: k.update, req: "M-10", outcome: malformed,
			depth: 1, shaped: [][]int{nil}, free: fields(1, 2),
		}, edits...)
	}
}

const successionFile = "succession.json"

// successionVectors are transfers that follow, or do not, from the title beside
// them.
func (s *suite) successionVectors() {
	s.open(successionFile, "Titles, and the transfers that follow from them: protocol.md, chapter 6.10. The title is in \"with\".")
	w := theWalk
	put := func(f fault, next, genesis envelope, previous, void *envelope) {
		v := s.vector("succession", "signed-transfer", f, next.raw)
		v.Signed, v.Diagnostic = next.explained(), diagnostic(next.payload)
		v.With = map[string]vector.Bytes{"genesis": genesis.raw}
		if previous != nil {
			v.With["previous"] = previous.raw
		}
		if void != nil {
			v.With["void"] = void.raw
		}
		s.add(successionFile, v)
	}
	put(ok("hop-1", "the first transfer, after the genesis", "O-11"), w.first, w.genesis, nil, nil)
	put(ok("hop-2", "the second one, after the first", "O-11"), w.second, w.genesis, &w.first, nil)
	put(ok("after-void", "the third one, after the second one and its void", "O-11"), w.third, w.genesis, &w.second, &w.void)
	bad := func(slug, about, req string, next, genesis envelope, previous, void *envelope) {
		put(fault{slug: slug, about: about, req: req, outcome: "token.ErrChain"}.malicious(), next, genesis, previous, void)
	}
	changeOf := func(h hop, change func(*hop)) envelope {
		change(&h)
		return h.sign()
	}
	other := sign(with(genesisPayload(ada), uintOf(6), 4), "genesis", ada)
	foreign := sign(genesisPayload(ben), "genesis", ben)
	bad("other-token", "of another token", "O-11", changeOf(w.secondHop, func(h *hop) { h.token = other.hash() }), w.genesis, &w.first, nil)
	bad("hop-again", "the hop of the title once more", "O-12", changeOf(w.secondHop, func(h *hop) { h.hop = 1 }), w.genesis, &w.first, nil)
	bad("hop-skipped", "a hop is left out", "O-11", changeOf(w.secondHop, func(h *hop) { h.hop = 3 }), w.genesis, &w.first, nil)
	bad("hop-beyond", "hop 1 after the highest one", "O-11", w.first, w.genesis, withHop(w.secondHop, 1<<48), nil)
	bad("not-holder", "by somebody who does not hold the token", "O-11", changeOf(w.secondHop, func(h *hop) { h.from, h.to = cleo, ada }), w.genesis, &w.first, nil)
	bad("previous-holder", "once more by who has given it away", "O-11", changeOf(w.secondHop, func(h *hop) { h.from, h.to = ada, cleo }), w.genesis, &w.first, nil)
	bad("previous-other", "after another transfer than the one shown", "O-11", changeOf(w.secondHop, func(h *hop) { h.previous = w.genesis.hash() }), w.genesis, &w.first, nil)
	bad("previous-not-genesis", "hop 1, and previous is not the genesis", "O-11", changeOf(w.firstHop, func(h *hop) { h.previous = w.second.hash() }), w.genesis, nil, nil)
	bad("void-not-named", "the void is not named", "O-11", changeOf(w.thirdHop, func(h *hop) { h.void = nil }), w.genesis, &w.second, &w.void)
	bad("void-missing", "a void is named and not shown", "O-11", w.third, w.genesis, &w.second, nil)
	bad("void-other", "another void is named", "O-11", changeOf(w.thirdHop, func(h *hop) { h.void = w.receipt.hash() }), w.genesis, &w.second, &w.void)
	bad("void-of-genesis", "a void without a transfer", "O-10", w.first, w.genesis, nil, &w.void)
	voidOfFirst := sign(answerPayload(w.first, w.firstHop, ben, incarnation), "void", ben)
	bad("void-of-another", "the void of another transfer", "O-10", w.third, w.genesis, &w.second, &voidOfFirst)
	byAda := sign(answerPayload(w.second, w.secondHop, ada, incarnation), "void", ada)
	bad("void-by-another", "a void by somebody to whom the transfer was not sent", "O-9", changeOf(w.thirdHop, func(h *hop) { h.void = byAda.hash() }), w.genesis, &w.second, &byAda)
	bad("void-taken", "by the receiver, who has declined", "O-11", changeOf(w.secondHop, func(h *hop) {
		h.hop, h.from, h.to, h.previous = 3, cleo, ada, w.second.hash()
	}), w.genesis, &w.second, &w.void)
	bad("genesis-other", "the genesis of another token", "O-10", w.second, other, &w.first, nil)
	bad("genesis-foreign", "hop 1 of a token that somebody else has generated", "O-11", changeOf(w.firstHop, func(h *hop) {
		h.token, h.previous = foreign.hash(), foreign.hash()
	}), foreign, nil, nil)
	stolen := changeOf(w.firstHop, func(h *hop) { h.from, h.to = cleo, ben })
	bad("first-hop-stolen", "the title's first transfer is not by the generator", "O-10", changeOf(w.secondHop, func(h *hop) { h.previous = stolen.hash() }), w.genesis, &stolen, nil)
	put(fault{slug: "receipt-as-void", about: "a receipt in place of the void", req: "E-4", outcome: "token.ErrSignature"}.malicious(), w.third, w.genesis, &w.second, receiptOfSecond())
}

// withHop is a transfer of another hop.
func withHop(h hop, n uint64) *envelope {
	h.hop = n
	e := h.sign()
	return &e
}

func receiptOfSecond() *envelope {
	e := sign(answerPayload(theWalk.second, theWalk.secondHop, cleo, incarnation), "receipt", cleo)
	return &e
}
