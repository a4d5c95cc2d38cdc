package main

import (
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	gateFramesFile = "gate-frames.json"
	malformedFrame = "wire.ErrFrame"
)

// theGate is the gate of the vectors: Ben's key, under the key id by which a gate signs.
var theGate = func() *party {
	p := *ben
	p.id = digest(ben.public)[:16]
	return &p
}()

// mostNumber is the highest number of a session, and of a sign-in.
const mostNumber = 1<<63 - 1

// gateOpens is OPEN of session 101: its kind, and what it says.
func gateOpens() []item {
	return []item{uintOf(1), array(uintOf(101), uintOf(noonMillis+4000), bstr(theWalk.genesis.hash()), uintOf(3))}
}

func gateIsBusy(stuck bool) []item {
	return []item{uintOf(2), array(uintOf(101), uintOf(noonMillis+4000), bstr(theWalk.genesis.hash()), uintOf(3), bstr(cleo.id), boolean(stuck))}
}

func gateRefuses(code uint64, configuration []byte) []item {
	return []item{uintOf(3), array(uintOf(code), uintOf(0), bstr(configuration))}
}

// gateRefusesUntil is REFUSE of a code until an hour later.
func gateRefusesUntil(code uint64) []item {
	return []item{uintOf(3), array(uintOf(code), uintOf(noonMillis+3_600_000), bstr(nil))}
}

func gateCloses(reason uint64) []item {
	return []item{uintOf(4), array(uintOf(101), uintOf(reason), boolean(true))}
}

// gateAnswerPayload is an answer to Ada's sign-in with statementPayload.
func gateAnswerPayload(answer []item) item {
	return array(text(resourceName), uintOf(0), bstr(ada.id), bstr(theWalk.third.hash()), bstr(exporter), uintOf(2), uintOf(noonMillis),
		answer[0], answer[1], dict())
}

// answers is an edit that puts another answer into the payload.
func answers(f fault, answer []item) edit {
	return edit{f, func(p *item) { *at(p, 7), *at(p, 8) = answer[0], answer[1] }}
}

func gateAnswerObject() *object {
	const malformed = "wire.ErrAnswer"
	o := ofToken("gate-answer", gateAnswerPayload(gateOpens()), theGate, 9)
	o.malformed, o.signature, o.unknownSigner, o.wrongKeyID = malformed, "wire.ErrSignature", "wire.ErrAnswerKey", "wire.ErrAnswerKey"
	wrong := func(slug, about string) fault {
		return fault{slug: slug, about: about, req: "W-11", outcome: malformed}
	}
	o.edits = []edit{
		answers(ok("busy", "BUSY", "W-11"), gateIsBusy(false)),
		answers(ok("stuck", "BUSY of a slot that is stuck", "W-11"), gateIsBusy(true)),
		answers(ok("refuse", "REFUSE", "W-11"), gateRefuses(1, nil)),
		answers(ok("refuse-last", "REFUSE as the windows are closed, with the highest code", "R-85"), gateRefusesUntil(17)),
		answers(ok("closed", "CLOSED", "W-11"), gateCloses(1)),
		answers(ok("closed-last", "CLOSED as the windows have closed, the highest reason", "R-87"), gateCloses(9)),
		answers(wrong("refuse-0", "REFUSE with code 0"), gateRefuses(0, nil)),
		answers(wrong("refuse-18", "REFUSE with a code that is not known"), gateRefuses(18, nil)),
		answers(fault{slug: "configuration", about: "REFUSE with a configuration", req: "W-14", outcome: malformed}, gateRefuses(6, []byte{1})),
		answers(wrong("closed-0", "CLOSED for reason 0"), gateCloses(0)),
		answers(wrong("closed-10", "CLOSED for a reason that is not known"), gateCloses(10)),
		answers(wrong("open-as-busy", "what OPEN says, as BUSY").malicious(), []item{uintOf(2), gateOpens()[1]}),
		answers(wrong("kind-0", "an answer of kind 0"), []item{uintOf(0), gateOpens()[1]}),
		answers(wrong("kind-5", "an answer of a kind that is not known"), []item{uintOf(5), gateOpens()[1]}),
		bad("session-0", "OPEN of session 0", "R-25", malformed, uintOf(0), 8, 0),
		good("session-most", "OPEN of the highest session", "R-39", uintOf(mostNumber), 8, 0),
		bad("session-above", "OPEN of a session above the highest", "R-39", malformed, uintOf(mostNumber+1), 8, 0).harmful(),
		bad("hop-above", "OPEN of a hop above the highest one", "O-1", malformed, uintOf(1<<48+1), 8, 3),
		good("resource-64", "a resource name of 64 bytes", "O-1", text(strings.Repeat("r", 64)), 0),
		bad("resource-65", "a resource name of 65 bytes", "O-1", malformed, text(strings.Repeat("r", 65)), 0),
		bad("resource-empty", "no resource", "O-1", malformed, text(""), 0),
		bad("number-0", "no number", "W-8", malformed, uintOf(0), 5),
		bad("number-above", "a number above the highest one", "W-8", malformed, uintOf(mostNumber+1), 5),
	}
	return o
}

// gateFrame is one kind of frame: its fields as they usually are, and what can be wrong with them.
type gateFrame struct {
	name   string
	kind   uint64
	fields item
	free   map[int]bool
	edits  []edit
}

func gateFrames() []gateFrame {
	number := func(path ...int) []edit {
		return []edit{
			good("number-most", "the highest number", "W-8", uintOf(mostNumber), path...),
			bad("number-0", "number 0", "W-8", malformedFrame, uintOf(0), path...),
			bad("number-above", "a number above the highest one", "W-8", malformedFrame, uintOf(mostNumber+1), path...),
		}
	}
	sizes := func(what string, most int, path ...int) []edit {
		return []edit{
			good(what+"-most", "the largest "+what, "W-3", bstr(repeat(0, most)), path...),
			bad(what+"-above", "a "+what+" that is too large", "W-3", malformedFrame, bstr(repeat(0, most+1)), path...),
			bad(what+"-empty", "no "+what, "W-3", malformedFrame, bstr(nil), path...),
		}
	}
	named := func(req string, path ...int) []edit {
		return []edit{
			good("name-64", "a name of 64 bytes", req, text(strings.Repeat("a", 64)), path...),
			bad("name-65", "a name of 65 bytes", req, malformedFrame, text(strings.Repeat("a", 65)), path...),
			bad("name-empty", "no name", req, malformedFrame, text(""), path...),
			bad("name-line", "a name with a line break", req, malformedFrame, text("fi\nles"), path...).harmful(),
		}
	}
	targets := func(n int) item {
		var names []item
		for i := range n {
			names = append(names, text(fmt.Sprintf("t%02d", i)))
		}
		return array(names...)
	}
	return []gateFrame{
		{"hello", 1, array(array(uintOf(1), uintOf(1)), text(resourceName), uintOf(7), uintOf(3)), nil, []edit{
			good("versions", "more versions", "W-4", array(uintOf(1), uintOf(9)), 1, 0),
			bad("versions-0", "version 0", "W-4", malformedFrame, array(uintOf(0), uintOf(1)), 1, 0),
			bad("versions-turned", "a lowest version above the highest", "W-4", malformedFrame, array(uintOf(2), uintOf(1)), 1, 0),
			bad("resource-empty", "no resource", "W-4", malformedFrame, text(""), 1, 1),
			bad("resource-65", "a resource name of 65 bytes", "W-4", malformedFrame, text(strings.Repeat("r", 65)), 1, 1),
			bad("configuration-0", "no configuration", "W-4", malformedFrame, uintOf(0), 1, 2),
			good("revocations-0", "no revocations", "W-6", uintOf(0), 1, 3),
		}},
		{"update", 2, array(bstr(repeat(1, 300)), array(one), array(one, one)), fields(0), []edit{
			good("nothing", "with nothing in it", "W-5", array(bstr(nil), array(), array()), 1),
			good("configuration-most", "the largest configuration", "W-5", bstr(repeat(0, 263168)), 1, 0),
			bad("configuration-above", "a configuration that is too large", "W-5", malformedFrame, bstr(repeat(0, 263169)), 1, 0).harmful(),
			good("authorities-8", "eight statements about CA keys", "W-5", times(8, one), 1, 1),
			bad("authorities-9", "nine statements about CA keys", "W-5", malformedFrame, times(9, one), 1, 1),
			good("revocations-64", "as many revocations as there may be, each the largest", "W-6", times(64, largest), 1, 2),
			bad("revocations-65", "a revocation too many", "W-6", malformedFrame, times(65, one), 1, 2).harmful(),
			bad("revocation-4097", "a revocation that is too large", "W-6", malformedFrame, array(tooMuch), 1, 2),
			bad("revocation-empty", "an empty revocation", "W-6", malformedFrame, array(bstr(nil)), 1, 2),
		}},
		{"sign-in", 3, array(uintOf(2), bstr(encode(thirdPermit())), bstr(sign(statementPayload(), "statement", ada).raw)), fields(1, 2),
			append(append(number(1, 0), sizes("permit", 39296, 1, 1)...), sizes("statement", 4352, 1, 2)...)},
		{"sign-out", 4, array(uintOf(2)), nil, number(1, 0)},
		{"said", 5, array(uintOf(2), bstr(sign(gateAnswerPayload(gateOpens()), "gate-answer", theGate).raw)), fields(1),
			append(number(1, 0), sizes("answer", 4352, 1, 1)...)},
		{"connect", 6, array(uintOf(2)), nil, number(1, 0)},
		{"connect-to", 7, array(uintOf(2), text("files")), nil, append(number(1, 0), named("W-17", 1, 1)...)},
		{"targets", 8, array(array(text("files"), text("sql"))), nil, append(named("W-18", 1, 0, 0),
			good("most", "as many targets as there may be", "W-18", targets(16), 1, 0),
			bad("above", "a target too many", "W-18", malformedFrame, targets(17), 1, 0),
			bad("none", "no target", "W-18", malformedFrame, array(), 1, 0),
			bad("descending", "targets in descending order", "W-18", malformedFrame, array(text("sql"), text("files")), 1, 0),
			bad("twice", "a target twice", "W-18", malformedFrame, array(text("sql"), text("sql")), 1, 0),
		)},
	}
}

// gateFrameVectors are frames between a member and a gate, with their lengths.
func gateFrameVectors(s *suite) {
	s.open(gateFramesFile, "Frames between a member and the gate of a resource: gate.md.")
	frame := func(data []byte) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	}
	for _, f := range gateFrames() {
		whole := array(uintOf(f.kind), f.fields)
		s.unsigned(gateFramesFile, unsigned{
			object: "gate-frame", prefix: f.name, item: whole, req: "W-3", outcome: malformedFrame, depth: 0, wrap: frame,
		}, f.edits...)
		for _, p := range shapes(whole, []int{1}, f.free, nil) {
			s.add(gateFramesFile, s.vector("gate-frame", "", fault{slug: f.name + "/shape-" + p.slug, about: p.about, req: "C-4", outcome: malformedFrame}, frame(encode(p.item))))
		}
	}
	put := func(f fault, data []byte) { s.add(gateFramesFile, s.vector("gate-frame", "", f, data)) }
	no := func(slug, about, outcome string, data []byte) {
		put(fault{slug: slug, about: about, req: "W-3", outcome: outcome}, data)
	}
	out := encode(array(uintOf(4), array(uintOf(2))))
	no("length-0", "a body of no bytes", "wire.ErrFrameSize", frame(nil))
	put(fault{slug: "length-4gib", about: "a length of 2^32-1, with nothing behind it", req: "W-3", outcome: "wire.ErrFrameSize"}.malicious(), []byte{0xff, 0xff, 0xff, 0xff})
	no("length-311297", "a length above the longest", "wire.ErrFrameSize", binary.BigEndian.AppendUint32(nil, 311297))
	no("header-short", "the stream ends within the length", "io.ErrUnexpectedEOF", []byte{0, 0, 0})
	no("body-short", "the stream ends within the body", "io.ErrUnexpectedEOF", frame(out)[:6])
	no("type-0", "a frame of type 0", "wire.ErrFrameType", frame(encode(array(uintOf(0), array()))))
	no("type-9", "a frame of a type that is not known", "wire.ErrFrameType", frame(encode(array(uintOf(9), array()))))
	no("fields-of-another", "what HELLO has, as SIGN-OUT", malformedFrame, frame(encode(array(uintOf(4), gateFrames()[0].fields))))
}
