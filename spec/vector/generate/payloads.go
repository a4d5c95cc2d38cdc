package main

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// The good payloads that everything is derived from.

const (
	resourceName = "ftp"
	address      = "ftp-01.example.org:4133"
)

var (
	incarnation = append([]byte{9, 8, 7}, make([]byte, 13)...)
	nonce       = append([]byte{1, 2, 3}, make([]byte, 13)...)
	tenYears    = noonSeconds + 3650*day
)

func authorityPayload(p *party) item {
	version := uint64(8)
	if p == firstCA {
		version = 0
	}
	return array(text("demo"), bstr(groupID), bstr(p.public), uintOf(noonSeconds), uintOf(tenYears), uintOf(version), dict())
}

func resource(name string) item {
	return array(text(name), text("wandering"), text("paper"), uintOf(1),
		dict(uintOf(1), uintOf(4000), uintOf(2), uintOf(100), uintOf(3), uintOf(1000)), uintOf(4000), uintOf(0), array(), dict(), dict())
}

// gated is a resource with a gate.
func gated(name string, gate item) item {
	r := resource(name)
	r.Items = append(r.Items, gate)
	return r
}

// gateOf is the gate of a resource, with these constants.
func gateOf(constants ...uint64) item {
	m := dict()
	for _, n := range constants {
		m.Items = append(m.Items, uintOf(n))
	}
	return array(bstr(cleo.id), text(address), uintOf(0), m)
}

// usualGate has what nobody has changed.
var usualGate = []uint64{2, 1000, 3, 1, 5, 2000, 6, 5000, 7, 10000}

// scenarioConfiguration is a configuration that lists the keys that are known.
func scenarioConfiguration() item {
	return configurationPayload(resource(resourceName))
}

func configurationPayload(resources ...item) item {
	constants := array(uintOf(100000), uintOf(10), uintOf(2), uintOf(7776000000), uintOf(86400000),
		uintOf(7776000000), uintOf(30000), uintOf(4000), uintOf(0))
	return array(uintOf(8), text("demo"), uintOf(noonMillis), array(resources...), constants,
		array(bstr(firstCA.id), bstr(secondCA.id)), uintOf(3), dict())
}

func certificatePayload(p *party) item {
	return dict(uintOf(2), text("ftp-03.example.org"), uintOf(4), uintOf(noonSeconds+90*day), uintOf(5), uintOf(noonSeconds),
		uintOf(6), uintOf(noonSeconds), uintOf(7), bstr([]byte{0, 0, 0, 0, 0, 0, 1, 44}),
		uintOf(8), dict(uintOf(1), coseKey(p.public)),
		negative(70001), bstr(groupID), negative(70002), uintOf(8), negative(70003), uintOf(2))
}

// gatePayload is the certificate of a gate.
func gatePayload(p *party) item { return withRole(certificatePayload(p), uintOf(1)) }

func withRole(certificate, role item) item {
	certificate.Items = append(certificate.Items, negative(70005), role)
	return certificate
}

// withClass is the certificate of a member of a class.
func withClass(certificate, class item) item {
	certificate.Items = append(certificate.Items, negative(70006), class)
	return certificate
}

func coseKey(public []byte) item {
	return dict(uintOf(1), uintOf(1), negative(1), uintOf(6), negative(2), bstr(public))
}

func revocationPayload() item {
	return array(uintOf(3), bstr(cleo.id), uintOf(300), text("stolen with the laptop"), uintOf(noonMillis), dict())
}

func endpointPayload(p *party) item {
	return array(bstr(p.id), uintOf(12), uintOf(1), array(text(address), text("[2001:db8::1]:1")), array(), uintOf(noonMillis), dict())
}

func leavePayload(p *party) item { return array(bstr(p.id), uintOf(noonMillis), dict()) }

func failurePayload(witness, subject *party) item {
	return array(bstr(witness.id), bstr(subject.id), uintOf(12), uintOf(noonMillis), dict())
}

func requestPayload(p *party) item {
	return array(text("ftp-03.example.org"), bstr(p.public), uintOf(noonMillis), bstr(nonce), dict())
}

func genesisPayload(p *party) item {
	return array(text(resourceName), uintOf(0), bstr(p.id), bstr(incarnation), uintOf(5), uintOf(noonMillis), bstr(nonce), dict())
}

// complaintPayload is about the first hop of theWalk.
func complaintPayload(by, about *party) item {
	return array(text(resourceName), uintOf(0), bstr(by.id), bstr(about.id), bstr(theWalk.genesis.hash()), uintOf(1), uintOf(1), uintOf(3),
		uintOf(noonMillis), dict())
}

// hop is a transfer to be.
type hop struct {
	token    []byte
	hop      uint64
	from, to *party
	inc      []byte
	accept   uint64
	mac      []byte // nil: the one that the receiver gives for it
	previous []byte
	void     []byte // nil: none
	field    []byte
}

func (h hop) payload() item {
	void := null
	if h.void != nil {
		void = bstr(h.void)
	}
	mac := h.mac
	if mac == nil {
		mac = h.acceptMAC(h.inc, h.accept)
	}
	return array(bstr(h.token), uintOf(h.hop), bstr(h.from.id), bstr(h.to.id), bstr(h.inc), uintOf(h.accept), bstr(mac),
		bstr(h.previous), void, uintOf(noonMillis), bstr(h.field), dict())
}

// acceptMAC is what the receiver makes for the hop, in an incarnation and with a number:
// the example of H-5.
func (h hop) acceptMAC(incarnation []byte, number uint64) []byte {
	key, err := hkdf.Key(sha256.New, h.to.seed, nil, "wander accept\x00"+string(incarnation), 32)
	if err != nil {
		panic(err)
	}
	m := hmac.New(sha256.New, key)
	m.Write(h.from.id)
	m.Write(h.token)
	m.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, h.hop), number))
	return m.Sum(nil)[:16]
}

func (h hop) sign() envelope { return sign(h.payload(), "transfer", h.from) }

func answerPayload(transfer envelope, h hop, by *party, inc []byte) item {
	return array(bstr(transfer.hash()), bstr(h.token), uintOf(h.hop), bstr(by.id), bstr(inc), dict())
}

// walk is a token of Ada's that goes to Ben, from him to Cleo, who declines it,
// and from him back to Ada.
type walk struct {
	genesis                       envelope
	firstHop, secondHop, thirdHop hop
	first, second, third          envelope
	receipt, void, unknown        envelope // of first; of second; to second
}

var theWalk = newWalk()

func newWalk() (w walk) {
	w.genesis = sign(genesisPayload(ada), "genesis", ada)
	token := w.genesis.hash()
	w.firstHop = hop{token: token, hop: 1, from: ada, to: ben, inc: incarnation, accept: 1025, previous: token}
	w.first = w.firstHop.sign()
	w.receipt = sign(answerPayload(w.first, w.firstHop, ben, incarnation), "receipt", ben)
	w.secondHop = hop{token: token, hop: 2, from: ben, to: cleo, inc: incarnation, accept: 1025, previous: w.first.hash()}
	w.second = w.secondHop.sign()
	w.void = sign(answerPayload(w.second, w.secondHop, cleo, incarnation), "void", cleo)
	w.unknown = sign(answerPayload(w.second, w.secondHop, cleo, incarnation), "unknown", cleo)
	w.thirdHop = hop{token: token, hop: 3, from: ben, to: ada, inc: incarnation, accept: 1025, previous: w.second.hash(), void: w.void.hash()}
	w.third = w.thirdHop.sign()
	return w
}
