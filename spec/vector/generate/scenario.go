package main

import (
	"github.com/wandertoken/wander/spec/vector"
)

// The memories of the scenarios. Ben, who is put to the test, has drawn the
// accept numbers below 2000 and has forgotten what came from Ada below 1000.
var (
	bensMemory  = repeat(0xb0, 16)
	cleosMemory = repeat(0xc0, 16)
	adasMemory  = repeat(0xa0, 16)
)

const (
	floorForAda   = 1000
	bensMark      = 2000
	freshNumber   = 1500 // drawn, not forgotten, and in no record
	scenarioStart = noonMillis + 60_000
)

// bensJournal is what Ben's journal begins with.
func bensJournal(more ...item) []vector.Bytes {
	list := append([]item{
		entry(1, array(bstr(bensMemory), bstr(ben.id), boolean(true), text("vectors"))),
		entry(2, array(uintOf(bensMark), uintOf(16))),
		entry(3, array(bstr(ada.id), uintOf(floorForAda))),
	}, more...)
	var journal []vector.Bytes
	for _, e := range list {
		journal = append(journal, encode(e))
	}
	return journal
}

// repeated are the messages that a member repeats when it sees fit.
var repeated = []string{"TRANSFER"}

// script is a scenario in the making.
type script struct{ vector.Scenario }

// newScript begins a scenario for Ben.
func newScript(name, about string, journal []vector.Bytes, reqs ...string) *script {
	return &script{vector.Scenario{
		Name: name, Description: about, Requirements: reqs, Class: vector.ClassValid,
		Member: ben.name, Start: scenarioStart, Journal: journal,
	}}
}

// malicious marks a scenario in which a peer means harm.
func (s *script) malicious() *script {
	s.Class = vector.ClassMalicious
	return s
}

func (s *script) step(step vector.Step) *script {
	if step.Effects == nil {
		step.Effects = []vector.Effect{}
	}
	s.Steps = append(s.Steps, step)
	return s
}

// meets connects a peer, which greets; what follows is given.
func (s *script) meets(p *party, effects ...vector.Effect) *script {
	return s.connects(p).hears(p, "it greets", hello(memoryOf(p), 0), effects...)
}

// connects opens a connection. What is unanswered may be sent again at once.
func (s *script) connects(p *party) *script {
	return s.step(vector.Step{
		Description: "a connection with " + p.name + " is open", Event: vector.Connected, Peer: p.name, May: repeated,
	})
}

func (s *script) hears(p *party, about string, body []byte, effects ...vector.Effect) *script {
	return s.step(vector.Step{Description: about, Event: vector.Received, Peer: p.name, Message: body, Effects: effects})
}

func (s *script) restarts(effects ...vector.Effect) *script {
	return s.step(vector.Step{
		Description: "the process is killed and started again", After: 1000, Event: vector.Restart, Effects: effects, May: repeated,
	})
}

func (s *script) shutsDown(effects ...vector.Effect) *script {
	return s.step(vector.Step{Description: "the operator ends the member", Event: vector.Shutdown, Effects: effects})
}

func (s *script) waits(ms uint64, about string, effects ...vector.Effect) *script {
	return s.step(vector.Step{Description: about, After: ms, Event: vector.Waited, Effects: effects, May: repeated})
}

func memoryOf(p *party) []byte {
	switch p {
	case ada:
		return adasMemory
	case ben:
		return bensMemory
	}
	return cleosMemory
}

// hello is a greeting from a memory with a floor for Ben.
func hello(memory []byte, floor uint64) []byte {
	return inMessage(1, encode(array(array(uintOf(1), uintOf(1)), bstr(memory), uintOf(0), uintOf(65536),
		uintOf(8), uintOf(0), uintOf(floor), null, bstr(nil), uintOf(noonMillis), null)))
}

// written is the record of a transfer that has to be durable.
func written(record string, object envelope) vector.Effect {
	return vector.Effect{Record: record, Durable: true, Object: object.raw}
}

// answered is the message of an answer.
func answered(name string, to *party, object envelope) vector.Effect {
	return vector.Effect{Send: name, To: to.name, Object: object.raw}
}

// said is a message about a token and hop.
func said(name string, to *party, h hop) vector.Effect {
	return vector.Effect{Send: name, To: to.name, Token: h.token, Hop: h.hop}
}

// passage is a token of Ada's that comes to Ben at hop 1, with what may be said
// of it.
type passage struct {
	genesis, transfer      envelope
	receipt, void, unknown envelope
	hop                    hop
}

// pass makes the passage of a transfer.
func pass(genesis envelope, h hop) passage {
	p := passage{genesis: genesis, hop: h, transfer: h.sign()}
	p.receipt = sign(answerPayload(p.transfer, h, h.to, memoryOf(h.to)), "receipt", h.to)
	p.void = sign(answerPayload(p.transfer, h, h.to, memoryOf(h.to)), "void", h.to)
	p.unknown = sign(answerPayload(p.transfer, h, h.to, memoryOf(h.to)), "unknown", h.to)
	return p
}

// toBen is a passage with an accept number, changed if need be.
func toBen(accept uint64, changes ...func(*hop)) passage {
	genesis := sign(genesisPayload(ada), "genesis", ada)
	h := hop{token: genesis.hash(), hop: 1, from: ada, to: ben, inc: bensMemory, accept: accept, previous: genesis.hash()}
	for _, change := range changes {
		change(&h)
	}
	return pass(genesis, h)
}

// transferMessage is the TRANSFER of a passage, with certificates.
func (p passage) transferMessage(previous []byte, certificates ...*party) []byte {
	return transferMessage(p.transfer.raw, p.genesis.raw, previous, nil, certificates...)
}

func transferMessage(transfer, genesis, previous, void []byte, certificates ...*party) []byte {
	list := array()
	for _, c := range certificates {
		list.Items = append(list.Items, bstr(sign(certificatePayload(c), "certificate", firstCA).raw))
	}
	return inMessage(7, encode(array(bstr(transfer), bstr(genesis), bstr(previous), bstr(void), list, array())))
}

// offerMessage is an OFFER of a passage.
func (p passage) offerMessage(signers ...*party) []byte {
	list := array()
	for _, m := range signers {
		list.Items = append(list.Items, bstr(m.id))
	}
	return inMessage(2, encode(array(bstr(p.hop.token), uintOf(p.hop.hop), bstr(p.genesis.raw), list, array(), null)))
}

func (p passage) cancelMessage(accept uint64) []byte {
	return inMessage(6, encode(array(bstr(p.hop.token), uintOf(p.hop.hop), bstr(p.hop.inc), uintOf(accept))))
}

func (p passage) acceptMessage(memory []byte, accept uint64) []byte {
	return inMessage(4, encode(array(bstr(p.hop.token), uintOf(p.hop.hop), bstr(memory), uintOf(accept), bstr(p.hop.acceptMAC(memory, accept)), uintOf(30000))))
}

func (p passage) refuseMessage() []byte {
	return inMessage(5, encode(array(bstr(p.hop.token), uintOf(p.hop.hop), uintOf(1), uintOf(0))))
}

// answerMessage is a RECEIPT (8), VOID (9) or UNKNOWN (10).
func answerMessage(number uint64, object envelope) []byte {
	if number == 8 {
		return inMessage(8, encode(array(bstr(object.raw), array())))
	}
	return inMessage(number, encode(array(bstr(object.raw))))
}

const (
	receiverFile = "handoff-receiver.json"
	senderFile   = "handoff-sender.json"
)

// scenarioVectors are the handoff's machines.
func (s *suite) scenarioVectors() {
	s.open(receiverFile, "What a receiver does: protocol.md, chapter 8 §4.")
	s.open(senderFile, "What a sender does: protocol.md, chapter 8 §3.")
	for file, scripts := range map[string][]*script{
		receiverFile: append(receiverSteps(), receiverOffers()...),
		senderFile:   senderScripts(),
	} {
		for _, script := range scripts {
			s.files[file].Scenarios = append(s.files[file].Scenarios, script.Scenario)
		}
	}
}
