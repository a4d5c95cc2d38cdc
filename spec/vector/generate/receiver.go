package main

import "github.com/wandertoken/wander/spec/vector"

// took is what follows a TRANSFER that is taken: HOLD durable, then the receipt.
func took(p passage) []vector.Effect {
	return []vector.Effect{written("held", p.transfer), answered("RECEIPT", p.hop.from, p.receipt)}
}

// declined is what follows one that is declined: VOIDED durable, then the void.
func declined(p passage) []vector.Effect {
	return []vector.Effect{written("voided", p.transfer), answered("VOID", p.hop.from, p.void)}
}

// receiverSteps are the steps of H-43 to H-47.
func receiverSteps() []*script {
	p := toBen(freshNumber)
	message := p.transferMessage(nil)
	again := toBen(freshNumber, func(h *hop) { h.field = []byte{1} })
	second := secondToken()
	begin := func(name, about string, reqs ...string) *script {
		return newScript("receiver/"+name, about, bensJournal(), reqs...).meets(ada)
	}
	return append(receiverDrops(), []*script{
		begin("take", "a transfer with a number that is drawn and not forgotten is taken, without a reservation in memory", "H-47", "H-57").
			hears(ada, "TRANSFER", message, took(p)...),
		begin("duplicate", "asked again, the same receipt, and nothing is enabled", "H-44").
			hears(ada, "TRANSFER", message, took(p)...).
			hears(ada, "the same TRANSFER", message, answered("RECEIPT", ada, p.receipt)).
			restarts().meets(ada).
			hears(ada, "the same TRANSFER after a restart", message, answered("RECEIPT", ada, p.receipt)),
		begin("two-transfers", "two transfers of one hop: nothing is enabled or answered, and both are evidence", "H-44", "H-65", "O-12").malicious().
			hears(ada, "TRANSFER", message, took(p)...).
			hears(ada, "another TRANSFER of that hop", again.transferMessage(nil), vector.Effect{Record: "evidence"}).
			hears(ada, "and once more", again.transferMessage(nil)),
		begin("void", "a member that is stopping declines, for ever", "H-45", "H-47").shutsDown().
			hears(ada, "TRANSFER", message, declined(p)...).
			hears(ada, "the same TRANSFER", message, answered("VOID", ada, p.void)).
			restarts().meets(ada).
			hears(ada, "the same TRANSFER after a restart, when there would be room", message, answered("VOID", ada, p.void)),
		begin("void-no-resource", "a transfer for a slot that the configuration does not have is declined", "H-47").
			hears(ada, "TRANSFER", otherSlot().transferMessage(nil), declined(otherSlot())...),
		begin("unknown-incarnation", "a number of another memory", "H-46").
			hears(ada, "TRANSFER", toBen(freshNumber, func(h *hop) { h.inc = cleosMemory }).transferMessage(nil),
				answered("UNKNOWN", ada, toBen(freshNumber, func(h *hop) { h.inc = cleosMemory }).unknown)),
		begin("unknown-forgotten", "a number just below the floor", "H-46", "H-56").
			hears(ada, "TRANSFER", toBen(floorForAda-1).transferMessage(nil), answered("UNKNOWN", ada, toBen(floorForAda-1).unknown)),
		begin("take-at-floor", "the number at the floor is not forgotten", "H-46").
			hears(ada, "TRANSFER", toBen(floorForAda).transferMessage(nil), took(toBen(floorForAda))...),
		begin("unknown-never-drawn", "a number that was never drawn", "H-46").malicious().
			hears(ada, "TRANSFER", toBen(1<<40).transferMessage(nil), answered("UNKNOWN", ada, toBen(1<<40).unknown)),
		begin("unknown-largest", "the number 2^64-1", "H-46").malicious().
			hears(ada, "TRANSFER", toBen(1<<64-1).transferMessage(nil), answered("UNKNOWN", ada, toBen(1<<64-1).unknown)),
		begin("unknown-mac", "a MAC that the member has not made", "H-46", "H-5").malicious().
			hears(ada, "TRANSFER", toBen(freshNumber, noMAC).transferMessage(nil), answered("UNKNOWN", ada, toBen(freshNumber, noMAC).unknown)),
		begin("unknown-mac-of-another", "the MAC of another number", "H-46", "H-5").malicious().
			hears(ada, "TRANSFER", toBen(freshNumber, nextMAC).transferMessage(nil), answered("UNKNOWN", ada, toBen(freshNumber, nextMAC).unknown)),
		newScript("receiver/unknown-no-floor", "there is no floor for the sender", bensJournal()[:2], "H-46").meets(ada).
			hears(ada, "TRANSFER", message, answered("UNKNOWN", ada, p.unknown)),
		begin("unknown-number-used", "a number that has been used for another token", "H-46").malicious().
			hears(ada, "TRANSFER", message, took(p)...).
			hears(ada, "TRANSFER of another token with the same number", second.transferMessage(nil), answered("UNKNOWN", ada, second.unknown)),
		begin("need", "without a signer's certificate: NEED, and nothing else", "H-43").
			hears(ada, "TRANSFER of hop 2, whose genesis is Cleo's", fromCleo().transferMessage(cleosTransfer().raw), vector.Effect{Send: "NEED", To: ada.name}).
			hears(ada, "the same TRANSFER with the certificate", fromCleo().transferMessage(cleosTransfer().raw, cleo), took(fromCleo())...),
	}...)
}

// secondToken is another token of Ada's on the same number, with the same MAC.
func secondToken() passage {
	genesis := sign(with(genesisPayload(ada), uintOf(6), 4), "genesis", ada)
	first := toBen(freshNumber).hop
	return pass(genesis, hop{token: genesis.hash(), hop: 1, from: ada, to: ben, inc: bensMemory, accept: freshNumber, mac: first.acceptMAC(first.inc, first.accept), previous: genesis.hash()})
}

func noMAC(h *hop) { h.mac = repeat(0, 16) }

func nextMAC(h *hop) { h.mac = h.acceptMAC(h.inc, h.accept+1) }

// otherSlot is a token of a slot that nobody has.
func otherSlot() passage {
	genesis := sign(with(genesisPayload(ada), uintOf(7), 1), "genesis", ada)
	return pass(genesis, hop{token: genesis.hash(), hop: 1, from: ada, to: ben, inc: bensMemory, accept: freshNumber, previous: genesis.hash()})
}

// cleosTransfer is the first hop of a token of Cleo's, which goes to Ada, and
// fromCleo its second one, to Ben.
func cleosTransfer() envelope {
	genesis := sign(genesisPayload(cleo), "genesis", cleo)
	return hop{token: genesis.hash(), hop: 1, from: cleo, to: ada, inc: adasMemory, accept: 3, previous: genesis.hash()}.sign()
}

func fromCleo() passage {
	genesis := sign(genesisPayload(cleo), "genesis", cleo)
	return pass(genesis, hop{token: genesis.hash(), hop: 2, from: ada, to: ben, inc: bensMemory, accept: freshNumber, previous: cleosTransfer().hash()})
}

// receiverDrops are transfers that step 1 drops: nothing is written or said. The
// honest one is taken afterwards, so that nothing of them has stuck.
func receiverDrops() (list []*script) {
	p := toBen(freshNumber)
	honest := p.transferMessage(nil)
	put := func(name, about string, body []byte, effects []vector.Effect, reqs ...string) {
		list = append(list, newScript("receiver/drop-"+name, about, bensJournal(), append(reqs, "H-43")...).malicious().meets(ada).
			hears(ada, "TRANSFER", body, effects...).
			hears(ada, "the honest TRANSFER", honest, took(p)...))
	}
	drop := func(name, about string, body []byte, reqs ...string) { put(name, about, body, nil, reqs...) }
	convict := func(name, about string, body []byte) {
		put(name, about, body, []vector.Effect{{Record: "evidence"}}, "O-11", "H-65")
	}
	changed := func(change func(*hop)) []byte { return toBen(freshNumber, change).transferMessage(nil) }
	forged := as(p.transfer.payload, "transfer", ada)
	forged.by = dora
	drop("forged", "a transfer whose signature does not hold", transferMessage(forged.seal().raw, p.genesis.raw, nil, nil), "E-5")
	malleable := as(p.transfer.payload, "transfer", ada)
	malleable.signature = func([]byte) []byte { return plusOrder(p.transfer.sig) }
	drop("malleable", "the honest signature with S + L", transferMessage(malleable.seal().raw, p.genesis.raw, nil, nil), "S-2")
	drop("to-another", "a transfer to somebody else", changed(func(h *hop) { h.to = cleo }))
	drop("from-another", "a transfer that Cleo has signed, shown by Ada", transferMessage(
		hop{token: p.hop.token, hop: 1, from: cleo, to: ben, inc: bensMemory, accept: freshNumber, previous: p.hop.token}.sign().raw, p.genesis.raw, nil, nil, cleo))
	convict("hop-2", "hop 2 right after the genesis: the two prove that the signer lies", changed(func(h *hop) { h.hop = 2 }))
	drop("previous", "previous is not the genesis", changed(func(h *hop) { h.previous = repeat(1, 32) }), "O-11")
	drop("other-genesis", "with the genesis of another token", transferMessage(p.transfer.raw, secondToken().genesis.raw, nil, nil), "O-10")
	drop("forged-genesis", "with a genesis whose signature does not hold", transferMessage(p.transfer.raw, flip(p.genesis.raw, len(p.genesis.raw)-1, 0), nil, nil), "O-10")
	convict("void-named", "a void is named where there can be none", changed(func(h *hop) { h.void = repeat(1, 32) }))
	drop("wrong-previous", "with another previous transfer than the one it names",
		transferMessage(fromCleo().transfer.raw, fromCleo().genesis.raw, p.transfer.raw, nil, cleo), "O-10")
	drop("receipt-as-transfer", "a receipt in place of the transfer", transferMessage(p.receipt.raw, p.genesis.raw, nil, nil), "E-4")
	drop("malformed", "a message that is cut", honest[:len(honest)-1], "F-3")
	return list
}

// receiverOffers are OFFERs and what becomes of their reservations.
func receiverOffers() []*script {
	reserved := toBen(bensMark) // the next number after a restart is the mark
	offer := reserved.offerMessage(ada)
	accept := said("ACCEPT", ada, reserved.hop)
	refused := func(p passage, reason uint64) vector.Effect {
		e := said("REFUSE", ada, p.hop)
		e.Reason = reason
		return e
	}
	begin := func(name, about string, reqs ...string) *script {
		return newScript("offer/"+name, about, bensJournal(), reqs...).meets(ada)
	}
	old := genesisAt(noonMillis - 2*day*1000)
	young := genesisAt(noonMillis + 2*day*1000)
	foreign := toBen(bensMark)
	foreign.genesis = secondToken().genesis
	return []*script{
		begin("handoff", "OFFER, ACCEPT, TRANSFER, RECEIPT; the number is the one at the mark", "H-3", "H-40", "H-47").
			hears(ada, "OFFER", offer, accept).
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...),
		begin("again", "the same OFFER gets the same ACCEPT, and one transfer is taken", "H-40").
			hears(ada, "OFFER", offer, accept).
			hears(ada, "the same OFFER", offer, accept).
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...),
		begin("taken", "in HOLD an OFFER of that hop is ignored", "H-40").
			hears(ada, "OFFER", offer, accept).
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...).
			hears(ada, "the OFFER, late", offer),
		begin("cancelled", "a reservation that was cancelled is still taken", "H-40", "H-47").
			hears(ada, "OFFER", offer, accept).
			hears(ada, "CANCEL", reserved.cancelMessage(bensMark)).
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...),
		begin("lapsed", "a reservation that has lapsed is still taken", "H-47").
			hears(ada, "OFFER", offer, accept).
			waits(60_000, "a minute passes").
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...),
		begin("restart", "a reservation that a restart has wiped out is still taken", "H-47", "H-57").
			hears(ada, "OFFER", offer, accept).
			restarts().meets(ada).
			hears(ada, "TRANSFER", reserved.transferMessage(nil), took(reserved)...),
		begin("need", "without a signer's certificate: NEED, and no reservation", "H-42").
			hears(ada, "OFFER", fromCleo().offerMessage(cleo, ada), said("NEED", ada, fromCleo().hop)),
		begin("stopping", "a member that is stopping refuses", "H-40").shutsDown().
			hears(ada, "OFFER", offer, refused(reserved, 2)),
		begin("no-resource", "a slot that the configuration does not have", "H-40").
			hears(ada, "OFFER", otherSlot().offerMessage(ada), refused(otherSlot(), 3)),
		begin("genesis-old", "a genesis that is older than the clock allowance", "H-41").
			hears(ada, "OFFER", old.offerMessage(ada), refused(old, 4)),
		begin("genesis-young", "a genesis that is further in the future than the clock allowance", "H-41").malicious().
			hears(ada, "OFFER", young.offerMessage(ada), refused(young, 4)),
		begin("genesis-old-transfer", "the genesis time is no ground to decline a transfer", "H-41").
			hears(ada, "TRANSFER", old.transferMessage(nil), took(old)...),
		begin("bad-title", "the genesis is that of another token", "H-40").malicious().
			hears(ada, "OFFER", foreign.offerMessage(ada), refused(foreign, 6)),
		newScript("offer/before-hello", "what comes before HELLO is dropped", bensJournal(), "M-2").connects(ada).
			hears(ada, "OFFER", offer).
			hears(ada, "HELLO", hello(adasMemory, 0)).
			hears(ada, "the same OFFER", offer, accept),
		newScript("offer/version", "a HELLO of versions that nobody here speaks, and all that follows, is dropped", bensJournal(), "M-3").connects(ada).
			hears(ada, "HELLO of version 2", inMessage(1, encode(array(array(uintOf(2), uintOf(3)), bstr(adasMemory), uintOf(0), uintOf(65536),
				uintOf(8), uintOf(0), uintOf(0), null, bstr(nil), uintOf(noonMillis), null)))).
			hears(ada, "OFFER", offer),
	}
}

// genesisAt is a passage of a token that was made at another time.
func genesisAt(ms uint64) passage {
	genesis := sign(with(genesisPayload(ada), uintOf(ms), 5), "genesis", ada)
	return pass(genesis, hop{token: genesis.hash(), hop: 1, from: ada, to: ben, inc: bensMemory, accept: freshNumber, previous: genesis.hash()})
}
