package main

import "github.com/wandertoken/wander/spec/vector"

// Ben has got a token from Ada at hop 1.
var (
	came  = toBen(freshNumber)
	given = pass(came.genesis, hop{token: came.hop.token, hop: 2, from: ben, to: cleo, inc: cleosMemory, accept: 7, previous: came.transfer.hash()})
)

// known is the record of somebody's certificate.
func known(p *party) item {
	return entry(15, array(uintOf(1), bstr(sign(certificatePayload(p), "certificate", firstCA).raw)))
}

// inHold is Ben's journal while he holds the token, and inSent after he has
// given it to Cleo.
func inHold(more ...item) []vector.Bytes {
	held := entry(6, array(bstr(came.transfer.raw), bstr(came.genesis.raw), bstr(nil), bstr(nil), bstr(nil)))
	return bensJournal(append([]item{known(ada), held}, more...)...)
}

func inSent() []vector.Bytes { return inHold(entry(7, array(bstr(given.transfer.raw)))) }

// senderScripts are the sender's rules.
func senderScripts() []*script {
	return append(sentScripts(), holdScripts()...)
}

// sentScripts are what a sender does once the transfer is signed.
func sentScripts() []*script {
	again := answered("TRANSFER", cleo, given.transfer)
	closed := vector.Effect{Record: "closed", Token: given.hop.token, Hop: 1, Object: given.receipt.raw}
	reclaimed := vector.Effect{Record: "reclaimed", Durable: true, Token: given.hop.token, Hop: 2, Object: given.void.raw}
	begin := func(name, about string, reqs ...string) *script {
		return newScript("sender/"+name, about, inSent(), reqs...).meets(cleo, again)
	}
	byAda := sign(answerPayload(given.transfer, given.hop, ada, adasMemory), "void", ada)
	ofOther := sign(answerPayload(came.transfer, came.hop, cleo, cleosMemory), "void", cleo)
	forged := as(given.void.payload, "void", cleo)
	forged.by = dora
	return []*script{
		begin("receipt", "SENT is sent again after a restart, byte by byte, and a receipt closes it", "H-24", "H-26", "H-52").
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed).
			hears(cleo, "the same RECEIPT", answerMessage(8, given.receipt)),
		begin("void", "a void gives custody back in one durable record; the next OFFER is of the next hop", "H-27").
			hears(cleo, "VOID", answerMessage(9, given.void), reclaimed, vector.Effect{Send: "OFFER", Token: given.hop.token, Hop: 3}),
		begin("void-restart", "custody that came back survives a restart; the transfer is not sent again", "H-27", "H-52").
			hears(cleo, "VOID", answerMessage(9, given.void), reclaimed).
			restarts().meets(cleo),
		begin("unknown", "UNKNOWN gives nothing back, and a receipt still counts", "H-28").
			hears(cleo, "UNKNOWN", answerMessage(10, given.unknown)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("refuse", "REFUSE and ACCEPT change nothing in SENT", "H-25").
			hears(cleo, "REFUSE", given.refuseMessage()).
			hears(cleo, "ACCEPT", given.acceptMessage(cleosMemory, 9)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("cut", "a connection that breaks changes nothing in SENT", "H-25", "H-33").
			step(vector.Step{Description: "Cleo cannot be reached", Event: vector.Unreachable, Peer: cleo.name}).
			meets(cleo, again).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("restart-twice", "SENT never goes back to HOLD", "H-52").
			restarts().meets(cleo, again).restarts().meets(cleo, again),
		begin("void-by-another", "a void by somebody to whom the transfer was not sent", "O-9").malicious().
			meets(ada).
			hears(ada, "VOID by Ada", answerMessage(9, byAda)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("void-of-another", "a void of another transfer", "O-9").malicious().
			hears(cleo, "VOID of another transfer", answerMessage(9, ofOther)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("void-forged", "a void whose signature does not hold", "E-5").malicious().
			hears(cleo, "VOID with a forged signature", answerMessage(9, forged.seal())).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("receipt-as-void", "a receipt in a VOID", "E-4").malicious().
			hears(cleo, "VOID that holds a receipt", answerMessage(9, given.receipt)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("unknown-as-void", "an unknown in a VOID", "E-4").malicious().
			hears(cleo, "VOID that holds an unknown", answerMessage(9, given.unknown)).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed),
		begin("receipt-then-void", "a void after the receipt gives nothing back, and both are evidence", "H-65").malicious().
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), closed).
			hears(cleo, "VOID", answerMessage(9, given.void), vector.Effect{Record: "evidence"}),
		begin("void-then-receipt", "a receipt after the void takes nothing away, and both are evidence", "H-65").malicious().
			hears(cleo, "VOID", answerMessage(9, given.void), reclaimed).
			hears(cleo, "RECEIPT", answerMessage(8, given.receipt), vector.Effect{Record: "evidence"}),
	}
}

// holdScripts are what a sender does before.
func holdScripts() []*script {
	offered := said("OFFER", cleo, given.hop)
	begin := func(name, about string, reqs ...string) *script {
		return newScript("sender/"+name, about, inHold(), reqs...).meets(cleo, offered)
	}
	release := []vector.Effect{{Record: "sent", Durable: true}, {Send: "TRANSFER", To: cleo.name}}
	return []*script{
		begin("release", "an ACCEPT: SENT is durable before the TRANSFER leaves, which is repeated without an answer", "H-23", "H-24").
			hears(cleo, "ACCEPT", given.acceptMessage(cleosMemory, 7)).
			waits(2000, "the policy lets go of the token", release...).
			waits(60_000, "there is no answer", vector.Effect{Send: "TRANSFER", To: cleo.name}),
		begin("accept-other-memory", "an ACCEPT of another memory than the one that its HELLO has stated", "H-9").malicious().
			hears(cleo, "ACCEPT of another memory", given.acceptMessage(adasMemory, 7)).
			hears(cleo, "ACCEPT", given.acceptMessage(cleosMemory, 7)).
			waits(2000, "the policy lets go of the token", release...),
		begin("accept-other-hop", "an ACCEPT of another hop", "H-23").malicious().
			hears(cleo, "ACCEPT of hop 3", pass(came.genesis, hop{token: given.hop.token, hop: 3, from: ben, to: cleo, inc: cleosMemory, accept: 7, previous: came.transfer.hash()}).acceptMessage(cleosMemory, 7)).
			hears(cleo, "ACCEPT", given.acceptMessage(cleosMemory, 7)).
			waits(2000, "the policy lets go of the token", release...),
		newScript("sender/accept-below-floor", "an ACCEPT below the floor that HELLO has stated", inHold(), "H-9").connects(cleo).
			hears(cleo, "HELLO with floor 8", hello(cleosMemory, 8), offered).
			hears(cleo, "ACCEPT with number 7", given.acceptMessage(cleosMemory, 7)).
			hears(cleo, "ACCEPT with number 8", given.acceptMessage(cleosMemory, 8)).
			waits(2000, "the policy lets go of the token", release...),
		begin("transfer-for-held", "the TRANSFER by which the token came gets its receipt again", "H-44", "H-52").
			meets(ada).
			hears(ada, "TRANSFER", came.transferMessage(nil), answered("RECEIPT", ada, came.receipt)),
	}
}
