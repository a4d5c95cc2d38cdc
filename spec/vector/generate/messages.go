package main

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/spec/form"
)

const messagesFile = "messages.json"

// message is one kind of message: its fields as they usually are, and what can
// be wrong with them.
type message struct {
	name           string
	fields         item
	free, optional map[int]bool
	edits          []edit
}

const (
	wrong = "wire.ErrMalformed"
	limit = "wire.ErrLimit"
)

// fields names places of an array.
func fields(list ...int) map[int]bool {
	m := make(map[int]bool)
	for _, n := range list {
		m[n] = true
	}
	return m
}

// one is the shortest object that may be in a message, and largest the
// longest.
var (
	one     = bstr([]byte{1})
	largest = bstr(repeat(0, 4096))
	tooMuch = bstr(repeat(0, 4097))
)

// times is an array of n equal items.
func times(n int, i item) item {
	a := array()
	for range n {
		a.Items = append(a.Items, i)
	}
	return a
}

// objectEdits are edits of a signed object in a message: as large as may be, too
// large, and empty.
func objectEdits(what string, needed bool, path ...int) []edit {
	list := []edit{
		good(what+"-4096", what+" of 4096 bytes", "F-3", largest, path...),
		bad(what+"-4097", what+" of 4097 bytes", "F-3", limit, tooMuch, path...),
	}
	if needed {
		return append(list, bad(what+"-empty", "without "+what, "F-3", limit, bstr(nil), path...))
	}
	return append(list, good(what+"-empty", "without "+what, "F-3", bstr(nil), path...))
}

// listEdits are edits of a list of objects: as many as may be, one too many, one
// of them empty.
func listEdits(what string, most int, path ...int) []edit {
	return []edit{
		good(fmt.Sprintf("%s-%d", what, most), fmt.Sprintf("%d of %s", most, what), "F-3", times(most, one), path...),
		bad(fmt.Sprintf("%s-%d", what, most+1), fmt.Sprintf("%d of %s", most+1, what), "F-3", limit, times(most+1, one), path...),
		bad(what+"-with-empty", "an empty one of "+what, "F-3", limit, array(bstr(nil)), path...),
		bad(what+"-with-4097", "one of "+what+" of 4097 bytes", "F-3", limit, array(tooMuch), path...),
	}
}

func noHop() edit { return bad("hop-0", "hop 0", "F-3", wrong, uintOf(0), 1) }

// idsEdits are edits of a list of 1 to 4 members.
func idsEdits(what string, path ...int) []edit {
	return []edit{
		good(what+"-4", "four "+what, "F-3", array(manyIDs(ada.id, 4)...), path...),
		bad(what+"-0", "no "+what, "F-3", limit, array(), path...),
		bad(what+"-5", "five "+what, "F-3", limit, array(manyIDs(ada.id, 5)...), path...),
	}
}

func concat(lists ...[]edit) (all []edit) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// messages are all kinds of messages, in the order of their types. One that is in the CDDL
// and not here is as full as it can be, and only its encoding goes wrong.
func messages() []message {
	list := append(handoffMessages(), membershipMessages()...)
	for _, o := range form.Messages()[len(list):] {
		whole, err := cddl.Decode(o.Sample(form.Full()))
		if err != nil {
			panic(err) // it has just been made
		}
		m := message{name: strings.TrimPrefix(o.Name, "message "), fields: whole.Items[1], free: make(map[int]bool)}
		for n := range m.fields.Items {
			m.free[n] = true
		}
		m.optional = m.free
		list = append(list, m)
	}
	return list
}

// handoffMessages are HELLO and those of the handoff.
func handoffMessages() []message {
	token, inc := bstr(theWalk.genesis.hash()), bstr(incarnation)
	settled := array(inc, uintOf(1000))
	return []message{
		{
			name: "hello", free: fields(8), optional: fields(7, 10),
			fields: array(array(uintOf(1), uintOf(1)), inc, uintOf(0), uintOf(65536), uintOf(8), uintOf(3), uintOf(900), settled, one, uintOf(noonMillis), array(uintOf(2), one)),
			edits: concat(objectEdits("endpoint", false, 8), objectEdits("shown", true, 10, 1), []edit{
				good("no-promise", "without a promise", "H-8", null, 7),
				good("nothing-shown", "the sender has seen nothing of the receiver", "H-71", null, 10),
				good("shown-void", "a void is shown", "H-71", uintOf(4), 10, 0),
				bad("shown-0", "an object of no kind is shown", "F-3", wrong, uintOf(0), 10, 0),
				bad("shown-5", "an object of an unknown kind is shown", "F-3", wrong, uintOf(5), 10, 0),
				good("later-version", "it speaks later versions, too", "M-3", array(uintOf(1), uintOf(9)), 0),
				good("feature", "a feature that nobody knows", "F-3", uintOf(1<<40), 2),
				bad("version-0", "version 0", "M-3", wrong, array(uintOf(0), uintOf(1)), 0),
				bad("versions-descending", "versions from 2 to 1", "M-3", wrong, array(uintOf(2), uintOf(1)), 0),
				bad("versions-3", "three versions", "C-4", wrong, array(uintOf(1), uintOf(1), uintOf(1)), 0),
			}),
		},
		{
			name: "offer", free: fields(2), optional: fields(5),
			fields: array(token, uintOf(4), one, array(bstr(ada.id)), array(one), settled),
			edits: concat([]edit{noHop(), good("no-promise", "without a promise", "H-8", null, 5)},
				objectEdits("genesis", true, 2), idsEdits("signers", 3), listEdits("certificates", 4, 4)),
		},
		{name: "need", fields: array(token, uintOf(4), array(bstr(ada.id))), edits: concat([]edit{noHop()}, idsEdits("members", 2))},
		{name: "accept", fields: array(token, uintOf(4), inc, uintOf(1025), bstr(repeat(4, 16)), uintOf(30000)), edits: []edit{noHop()}},
		{
			name: "refuse", fields: array(token, uintOf(4), uintOf(1), uintOf(0)),
			edits: []edit{
				noHop(), bad("reason-0", "no reason", "F-3", wrong, uintOf(0), 2),
				good("reason-99", "a reason that nobody knows is read as busy", "H-40", uintOf(99), 2),
			},
		},
		{name: "cancel", fields: array(token, uintOf(4), inc, uintOf(1025)), edits: []edit{noHop()}},
		{
			name: "transfer-message", free: fields(0, 1, 2, 3), fields: array(one, one, one, one, array(one), array(one)),
			edits: concat(objectEdits("transfer", true, 0), objectEdits("genesis", true, 1), objectEdits("previous", false, 2),
				objectEdits("void", false, 3), listEdits("certificates", 4, 4), listEdits("updates", 32, 5)),
		},
		{
			name: "receipt-message", free: fields(0), fields: array(one, array(one)),
			edits: concat(objectEdits("receipt", true, 0), listEdits("updates", 32, 1)),
		},
		{name: "void-message", free: fields(0), fields: array(one), edits: objectEdits("void", true, 0)},
		{name: "unknown-message", free: fields(0), fields: array(one), edits: objectEdits("unknown", true, 0)},
	}
}

// The bounds of a range of ids.
var lowest, highest = bstr(make([]byte, 16)), bstr(repeat(0xff, 16))

// membershipMessages are those of the policies and the directory.
func membershipMessages() []message {
	page := array(one, one, one, array(one))
	return []message{
		policyMessage(),
		{
			name: "want", fields: array(uintOf(1), lowest, highest, uintOf(0)),
			edits: []edit{
				good("one-id", "a range of one id", "M-5", highest, 1),
				bad("topic-0", "topic 0", "M-5", wrong, uintOf(0), 0),
				bad("topic-5", "topic 5", "M-5", wrong, uintOf(5), 0),
				bad("backwards", "from the last to the first", "M-5", wrong, array(uintOf(1), highest, lowest, uintOf(0))),
			},
		},
		{
			name: "members", fields: array(array(page), highest, boolean(true)),
			edits: concat(objectEdits("certificate", true, 0, 0, 0), objectEdits("endpoint", false, 0, 0, 1), objectEdits("leave", false, 0, 0, 2),
				listEdits("failures", 16, 0, 0, 3), []edit{
					good("entries-0", "nobody on the page", "M-6", array(), 0),
					good("entries-64", "64 entries", "F-3", times(64, page), 0),
					bad("entries-65", "65 entries", "F-3", limit, times(65, page), 0),
					bad("entry-of-3", "an entry without failures", "C-4", wrong, array(one, one, one), 0, 0),
					bad("items", "more than 2048 items", "C-3", wrong, times(64, array(one, one, one, times(33, one))), 0).because("canonical.ErrTooMany").harmful(),
				}),
		},
		{
			name: "configuration-message", free: fields(0), fields: array(one, array(one), uintOf(0), uintOf(0)),
			edits: concat([]edit{
				good("largest", "a configuration of 16384 bytes", "F-3", bstr(repeat(0, 16384)), 0),
				bad("too-large", "a configuration of 16385 bytes in one message", "F-3", limit, bstr(repeat(0, 16385)), 0),
				good("before-last", "the last part of the largest", "M-19", uintOf(262144), 2),
				bad("before-odd", "behind parts that are not full", "M-19", wrong, uintOf(16383), 2),
				bad("before-huge", "behind more than 263168 bytes", "M-19", limit, uintOf(278528), 2),
				bad("rest-small", "a part that is not full", "M-19", wrong, uintOf(1), 3),
				bad("rest-huge", "more than 263168 bytes in all", "M-19", limit, uintOf(263168), 3),
				bad("empty", "no configuration", "F-3", limit, bstr(nil), 0),
			}, listEdits("authorities", 8, 1)),
		},
		{name: "revocations", fields: array(array(one), boolean(false)), edits: listEdits("revocations", 64, 0)},
		{name: "gossip", fields: array(uintOf(8), uintOf(3), uintOf(191), bstr(repeat(7, 16)), boolean(false))},
		summaryMessage(),
		{name: "probe", fields: array(bstr(ben.id), uintOf(12))},
		{
			name: "news", fields: array(array(one)),
			edits: append(listEdits("updates", 32, 0), bad("updates-0", "no update", "F-3", limit, array(), 0)),
		},
	}
}

func policyMessage() message {
	names := func(what string, n int) []edit {
		return []edit{
			good(what+"-64", what+" of 64 bytes", "P-2", text(strings.Repeat("n", 64)), n),
			bad(what+"-65", what+" of 65 bytes", "P-2", limit, text(strings.Repeat("n", 65)), n),
			bad(what+"-empty", "without "+what, "P-2", limit, text(""), n),
		}
	}
	return message{
		name: "policy-message", free: fields(4), fields: array(text("ftp"), uintOf(0), text("ring"), uintOf(8), bstr([]byte{1, 2})),
		edits: concat(names("resource", 0), names("policy", 2), []edit{
			good("body-512", "a body of 512 bytes", "P-1", bstr(repeat(0, 512)), 4),
			good("body-empty", "an empty body", "P-1", bstr(nil), 4),
			bad("body-513", "a body of 513 bytes", "P-1", limit, bstr(repeat(0, 513)), 4),
		}),
	}
}

func summaryMessage() message {
	part := func(last byte) item { return array(bstr(repeat(last, 16)), uintOf(2), bstr(repeat(1, 16))) }
	ascending := func(n int) item {
		a := array()
		for i := range n {
			a.Items = append(a.Items, part(byte(i+1)))
		}
		return a
	}
	return message{
		name: "summary", fields: array(lowest, ascending(2)),
		edits: []edit{
			good("parts-0", "no part", "M-5", array(), 1),
			good("parts-64", "64 parts", "F-3", ascending(64), 1),
			bad("parts-65", "65 parts", "F-3", limit, ascending(65), 1),
			bad("parts-twice", "two parts that end alike", "M-5", wrong, array(part(3), part(3)), 1),
			bad("parts-descending", "parts that descend", "M-5", wrong, array(part(3), part(2)), 1).harmful(),
			bad("parts-before", "a part that ends before the range", "M-5", wrong, array(bstr(repeat(9, 16)), array(part(3)))),
		},
	}
}

// inMessage is the body of a frame.
func inMessage(number uint64, fields []byte) []byte {
	return append(append([]byte{0x82}, encode(uintOf(number))...), fields...)
}

// messageVectors adds all vectors of messages.
func (s *suite) messageVectors() {
	s.open(messagesFile, "Messages, the bodies of frames: protocol.md, chapter 7.")
	for n, m := range messages() {
		s.unsigned(messagesFile, unsigned{
			object: "message", rule: "message", prefix: m.name, what: "fields, ", item: m.fields, req: "F-2", outcome: wrong,
			depth: 2, shaped: [][]int{nil}, free: m.free, optional: m.optional,
			wrap: func(data []byte) []byte { return inMessage(uint64(n+1), data) }, wrapped: true,
		}, m.edits...)
	}
	s.messageHeads()
}

// messageHeads are bodies that are no message at all.
func (s *suite) messageHeads() {
	put := func(slug, about, outcome string, body []byte) {
		s.add(messagesFile, s.vector("message", "message", fault{slug: slug, about: about, req: "F-3", outcome: outcome}, body))
	}
	fields := encode(array(bstr(ben.id), uintOf(12)))
	put("empty", "nothing", wrong, nil)
	put("no-fields", "a type without fields", wrong, []byte{0x82, 18})
	put("three", "an array of three", wrong, append([]byte{0x83, 18, 0}, fields...))
	put("long-head", "the outer array with a longer head than needed", wrong, append([]byte{0x98, 2, 18}, fields...))
	put("indefinite", "the outer array with an indefinite length", wrong, append(append([]byte{0x9f, 18}, fields...), 0xff))
	put("tagged", "a tag before it", wrong, append([]byte{0xc0, 0x82, 18}, fields...))
	put("type-long", "the type with a longer head than needed", wrong, append([]byte{0x82, 0x18, 18}, fields...))
	put("type-text", "a text as type", wrong, append([]byte{0x82, 0x61, '1'}, fields...))
	put("type-24", "type 24", wrong, append([]byte{0x82, 0x18, 24}, fields...))
	put("type-0", "type 0, which is the preamble", "wire.ErrMessageType", append([]byte{0x82, 0}, fields...))
	for _, later := range []int{len(messages()) + 1, 23} {
		put(fmt.Sprintf("type-%d", later), fmt.Sprintf("type %d, of a later version", later), "wire.ErrMessageType", append([]byte{0x82, byte(later)}, fields...))
	}
	f := fault{slug: "deep", about: "fields that nest six arrays", req: "C-3", outcome: wrong, cause: "canonical.ErrTooDeep"}
	s.add(messagesFile, s.vector("message", "message", f.malicious(), inMessage(18, encode(nested(uintOf(0), 6)))))
}

const framesFile = "frames.json"

// frameVectors are frames, and the preamble that the first one of a stream has.
func (s *suite) frameVectors() {
	s.open(framesFile, "Frames, and the preamble of a stream: protocol.md, chapters 7.1 and 11.")
	frame := func(length uint32, body []byte) []byte {
		return append([]byte{byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)}, body...)
	}
	put := func(f fault, data []byte) { s.add(framesFile, s.vector("frame", "", f, data)) }
	no := func(slug, about, outcome string, data []byte) {
		put(fault{slug: slug, about: about, req: "F-1", outcome: outcome}, data)
	}
	body := inMessage(18, encode(array(bstr(ben.id), uintOf(12))))
	put(ok("good", "a PROBE in its frame", "F-1"), frame(uint32(len(body)), body))
	put(ok("largest", "a body of 65536 bytes", "F-1"), frame(65536, pageOf(65536)))
	no("length-0", "a body of no bytes", "wire.ErrFrameSize", frame(0, nil))
	no("length-65537", "a body of 65537 bytes", "wire.ErrFrameSize", frame(65537, pageOf(65537)))
	put(fault{slug: "length-4gib", about: "a length of 2^32-1, with nothing behind it", req: "F-1", outcome: "wire.ErrFrameSize"}.malicious(), frame(1<<32-1, nil))
	no("header-short", "the stream ends within the length", "io.ErrUnexpectedEOF", []byte{0, 0, 0})
	no("body-short", "the stream ends within the body", "io.ErrUnexpectedEOF", frame(uint32(len(body)), body[:5]))
	no("one-less", "the length says one byte less than the message has", "wire.ErrMalformed", frame(uint32(len(body)-1), body))

	preamble := array(uintOf(0), array(bstr(repeat(5, 16)), uintOf(1), boolean(false)))
	s.unsigned(framesFile, unsigned{object: "preamble", rule: "preamble", item: preamble, req: "T-11", outcome: "transport.ErrProtocol", depth: 2, shaped: [][]int{nil, {1}}},
		good("keep", "a connection that is to be kept", "T-11", boolean(true), 1, 2),
		good("ordinal-most", "the largest ordinal", "T-11", uintOf(1<<64-1), 1, 1),
		bad("type-1", "a message in its place", "T-11", "transport.ErrProtocol", uintOf(1), 0))
}

// pageOf is a MEMBERS message of exactly n bytes.
func pageOf(n int) []byte {
	page := func(last int) []byte {
		entries := times(15, array(largest, bstr(nil), bstr(nil), array()))
		entries.Items = append(entries.Items, array(bstr(repeat(0, last)), bstr(nil), bstr(nil), array()))
		return inMessage(13, encode(array(entries, bstr(repeat(0xff, 16)), boolean(false))))
	}
	const some = 3000
	return page(some + n - len(page(some)))
}

// unsigned is an object that nobody signs: from one good item all that can be
// wrong with its encoding and shape is derived.
type unsigned struct {
	object, rule   string
	prefix         string // of the names
	item           item
	req            string
	outcome        string // of everything that is wrong
	depth          int
	shaped         [][]int // paths of the arrays whose shape is varied
	free, optional map[int]bool
	wrap           func(data []byte) []byte // makes the input of the encoded item
	wrapped        bool                     // the diagnostic notation is that of the input
	what           string                   // the item is, before what is wrong with it
}

// unsigned adds the vectors of one object.
func (s *suite) unsigned(file string, u unsigned, edits ...edit) {
	put := func(f fault, data []byte) {
		if u.prefix != "" {
			f.slug = u.prefix + "/" + f.slug
		}
		input := data
		if u.wrap != nil {
			input = u.wrap(data)
		}
		if u.wrapped {
			data = input
		}
		v := s.vector(u.object, u.rule, f, input)
		v.Diagnostic = diagnostic(data)
		s.add(file, v)
	}
	put(ok("good", "as it usually is", u.req), encode(u.item))
	for _, e := range edits {
		put(e.fault, encode(changed(u.item, e.change)))
	}
	for _, p := range spellings(u.item, u.depth) {
		put(p.as("spelled-", u.what, u.outcome), p.data)
	}
	for _, path := range u.shaped {
		for _, p := range shapes(u.item, path, u.free, u.optional) {
			put(fault{slug: "shape-" + p.slug, about: u.what + p.about, req: "C-4", outcome: u.outcome}, encode(p.item))
		}
	}
}
