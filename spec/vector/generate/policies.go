package main

import (
	"bytes"
	"encoding/binary"
	"slices"
)

const policiesFile = "policies.json"

// policyVectors are what policies write on tokens and say to each other: fixed
// layouts, behind no CBOR.
func (s *suite) policyVectors() {
	s.open(policiesFile, "Fields of tokens and bodies of POLICY messages, as the policies wandering (light and fair) and ring, the keepers and the voters have them: policy/wandering.md, ring.md, keeper.md and quorum.md.")
	s.walkFields()
	s.walkBodies()
	s.ringFields()
	s.ringBodies()
	s.keeperBodies()
	s.voteBodies()
}

// layout is an object of policies.json: one that is refused has one outcome, and breaks one
// requirement.
type layout struct {
	*suite
	object, refused, req string
}

// put adds one input.
func (l layout) put(f fault, parts ...[]byte) {
	if f.outcome == "" {
		f.outcome = l.refused
	}
	l.add(policiesFile, l.vector(l.object, "", f, slices.Concat(parts...)))
}

// bad adds one that is refused.
func (l layout) bad(slug, about string, parts ...[]byte) {
	l.put(fault{slug: slug, about: about, req: l.req}, parts...)
}

// bodies adds good ones, and each of them too short and too long.
func (l layout) bodies(kinds []walkBody, req string) {
	for _, k := range kinds {
		whole := slices.Concat(k.parts...)
		l.put(ok(k.name, k.name, req), whole)
		if len(whole) > 1 {
			l.bad(k.name+"-short", k.name+" without its last byte", whole[:len(whole)-1])
		}
		l.bad(k.name+"-long", k.name+" with one byte more", whole, []byte{0})
	}
}

// u32 and u64 are numbers as policies write them.
func u32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// copies are so many copies of some bytes.
func copies(n int, b ...[]byte) []byte { return bytes.Repeat(slices.Concat(b...), n) }

var (
	nobody  = make([]byte, 16)
	noToken = make([]byte, 32)
	// aToken is the id of a token, and aSight what somebody tells of it.
	aToken     = bytes.Repeat([]byte{0xc1}, 32)
	otherToken = bytes.Repeat([]byte{0xc2}, 32)
	aSight     = slices.Concat(aToken, u64(1_772_366_400_000), u64(7), u32(60_000))
)

func (s *suite) walkFields() {
	const req = "P-33"
	put := layout{s, "walk-field", "wandering.ErrField", req}.put
	head := slices.Concat([]byte{1, 3}, u32(60_000))
	waits := slices.Concat(ada.id, u32(1_200_000))
	put(ok("new", "nothing: the token has just been made", req))
	put(ok("light", "without candidates, three members in a row that did not run, a minute old", req), head)
	put(ok("oldest", "the greatest streak and age", req), []byte{1, 255}, u32(1<<32-1))
	put(ok("candidate", "one candidate", req), head, waits)
	put(ok("candidates", "16 candidates", req), head, copies(16, waits))
	put(ok("disorder", "who has waited less stands first, and one stands twice", req), head, ben.id, u32(5), waits, waits)
	put(ok("nobody", "a candidate without an id, which is left out", req), head, nobody, u32(5))
	put(fault{slug: "form-0", about: "form 0", req: req}, []byte{0, 3}, u32(60_000))
	put(fault{slug: "form-2", about: "form 2, of a later version", req: req}, []byte{2, 3}, u32(60_000))
	put(fault{slug: "short", about: "one byte is missing", req: req}, head[:5])
	put(fault{slug: "half", about: "a candidate without its last byte", req: req}, head, waits[:19])
	put(fault{slug: "long", about: "one byte behind the last candidate", req: req}, head, waits, []byte{0})
	put(fault{slug: "crowd", about: "17 candidates", req: req}.malicious(), head, copies(17, waits))
}

// walkBody is one kind of body with all that it may say.
type walkBody struct {
	name  string
	parts [][]byte
}

// walkKinds are the kinds in the order of their numbers, but report.
func walkKinds() []walkBody {
	return []walkBody{
		{"look", [][]byte{{1}, aSight, ada.id, u32(4000), u32(1_200_000)}},
		{"inquire", [][]byte{{3}, aSight, ada.id}},
		{"answer", [][]byte{{4}, ada.id, u32(4000), {1}}},
		{"demand", [][]byte{{5}, {1}, u32(1_200_000)}},
		{"heard", [][]byte{{6}, aSight, ben.id}},
	}
}

func (s *suite) walkBodies() {
	const req = "P-33"
	l := layout{s, "walk-body", "wandering.ErrBody", "P-34"}
	put, bad := l.put, l.bad
	l.bodies(walkKinds(), req)
	waits := slices.Concat(ada.id, u32(1_200_000))
	put(ok("report", "report of one member", req), []byte{2}, waits)
	put(ok("report-4", "report of four", req), []byte{2}, copies(4, waits))
	bad("report-0", "report of nobody", []byte{2})
	bad("report-half", "report that ends within a member", []byte{2}, waits, waits[:10])
	put(fault{slug: "report-5", about: "report of five, one more than permitted", req: "P-34"}.malicious(), []byte{2}, copies(5, waits))
	put(fault{slug: "report-25", about: "report of as many as a message bears", req: "P-34"}.malicious(), []byte{2}, copies(25, waits))

	put(ok("look-no-token", "look of a member that holds none", req), []byte{1}, copies(52, []byte{0}), nobody, u32(0), u32(0))
	put(ok("heard-own", "heard, on the sender's own word", req), []byte{6}, aSight, nobody)
	put(ok("answer-0", "answer that says that nothing is known", req), []byte{4}, ada.id, u32(0), []byte{0})
	put(ok("answer-2", "answer that says that it does not want the token", req), []byte{4}, ada.id, u32(0), []byte{2})
	bad("answer-3", "answer that says neither", []byte{4}, ada.id, u32(0), []byte{3})
	put(ok("demand-2", "demand no more", req), []byte{5}, []byte{2}, u32(0))
	bad("demand-0", "demand that demands nothing", []byte{5}, []byte{0}, u32(0))
	bad("demand-3", "demand of a later version", []byte{5}, []byte{3}, u32(0))
	bad("empty", "no byte at all")
	bad("kind-0", "kind 0", []byte{0}, aToken, u64(7))
	bad("kind-7", "kind 7, of a later version", []byte{7}, aToken, u64(7))
	bad("kind-127", "kind 127", []byte{127})
}

// keeperKinds are the bodies of keepers in the order of their numbers.
func keeperKinds() []walkBody {
	custody, born, promise := slices.Concat(aToken, u64(7)), u64(1_772_366_400_000), slices.Concat(u64(1_000_000_000), u32(3))
	return []walkBody{
		{"want", [][]byte{{128}, ben.id}},
		{"noted", [][]byte{{129}, u32(2000)}},
		{"have", [][]byte{{130}, custody, u32(12_000)}},
		{"rest", [][]byte{{131}, custody, promise}},
		{"release", [][]byte{{132}, custody, born, promise}},
		{"returned", [][]byte{{133}, custody, born, promise}},
		{"released", [][]byte{{134}, custody, promise}},
		{"other", [][]byte{{135}, custody, promise, ben.id}},
		{"ask", [][]byte{{136}, custody, ben.id}},
		{"went", [][]byte{{137}, custody, ben.id, u32(300)}},
		{"none", [][]byte{{138}, u32(60_000)}},
		{"lasts", [][]byte{{139}}},
		{"lasting", [][]byte{{140}, u32(12_000)}},
		{"away", [][]byte{{141}, custody, u32(240_000)}},
		{"account", [][]byte{{160}, custody}},
		{"still", [][]byte{{161}, custody}},
		{"sent", [][]byte{{162}, custody, ben.id, u32(300)}},
		{"instead", [][]byte{{164}, custody, ben.id, otherToken, u64(9)}},
		{"never", [][]byte{{165}, custody, u32(60_000), u64(12), u64(15)}},
		{"blame", [][]byte{{166}, custody, ben.id, ada.id}},
	}
}

func (s *suite) keeperBodies() {
	const req = "P-50"
	l := layout{s, "keeper-body", "keeper.ErrBody", "P-59"}
	put, bad := l.put, l.bad
	l.bodies(keeperKinds(), req)
	put(ok("have-idle", "have: no program runs", req), []byte{130}, aToken, u64(7), u32(0))
	put(ok("have-ever", "have: the greatest hop and span, read as any other", req), []byte{130}, aToken, u64(1<<64-1), u32(1<<32-1))
	put(ok("want-self", "want: its sender waits", req), []byte{128}, nobody)
	put(ok("ask-any", "ask by a member that knows no token", req), []byte{136}, noToken, u64(0), nobody)
	put(ok("away-ever", "away: the greatest span, of which no more than H counts", "P-100"), []byte{141}, aToken, u64(7), u32(1<<32-1))
	put(ok("away-over", "away: a span of 0 is a have", "P-100"), []byte{141}, aToken, u64(7), u32(0))
	put(ok("lasting-over", "lasting: it does not wait any more", req), []byte{140}, u32(0))
	put(ok("went-underway", "went: to a member that is not known", req), []byte{137}, aToken, u64(7), nobody, u32(300))
	put(ok("went-arrived", "went: it has arrived", req), []byte{137}, aToken, u64(7), ben.id, u32(0))
	put(ok("sent-arrived", "sent: no receipt came, and none is waited for", req), []byte{162}, aToken, u64(7), ben.id, u32(0))
	put(ok("instead-unknown", "instead: it knows of no other token", req), []byte{164}, aToken, u64(7), nobody, noToken, u64(0))
	put(ok("never-ever", "never: the greatest hop and span, read as any other", req), []byte{165}, aToken, u64(1<<64-1), u32(1<<32-1), u64(1<<64-1), u64(1<<64-1))
	put(ok("blame-unknown", "blame: who passed it there is not known", req), []byte{166}, aToken, u64(7), ben.id, nobody)
	put(ok("proof", "proof: the receipt is verified by whoever asked", req), []byte{163}, u32(300), theWalk.receipt.raw)
	put(ok("proof-short", "proof: a receipt that does not verify proves nothing", req), []byte{163}, u32(300), []byte{0})
	put(ok("proof-greatest", "proof with as many bytes as a message bears", req), []byte{163}, copies(511, []byte{0xff}))
	bad("proof-empty", "proof without a receipt", []byte{163}, u32(300))
	bad("proof-spanless", "proof without all of its span", []byte{163, 0, 0, 1})
	put(fault{slug: "proof-long", about: "proof with one byte more than a message bears", req: "P-59"}.malicious(), []byte{163}, copies(512, []byte{0xff}))
	bad("empty", "no byte at all")
	bad("kind-127", "a body of the policy itself, which is none of a keeper", []byte{127})
	bad("kind-139", "kind 139, of a later version", []byte{139}, aToken, u64(7))
	bad("kind-142", "kind 142, of a later version", []byte{142}, aToken, u64(7), u32(1))
	bad("kind-144", "kind 144, which is about votes", []byte{144}, aToken, u64(7))
	bad("kind-167", "kind 167, of a later version", []byte{167}, aToken, u64(7))
	bad("kind-255", "kind 255", []byte{255})
	put(fault{slug: "greatest", about: "as many bytes as a message bears", req: "P-59"}.malicious(), []byte{130}, copies(511, []byte{0xff}))
}

// voteKinds are the bodies about votes in the order of their numbers.
func voteKinds() []walkBody {
	request := slices.Concat(aToken, u64(7), u64(1_000_000_000), u32(3))
	return []walkBody{
		{"ask", [][]byte{{144}, request, u64(1_772_366_400_000), u32(12_250)}},
		{"vote", [][]byte{{145}, request, u32(5)}},
		{"free", [][]byte{{146}, request, u64(1_772_366_400_000), otherToken}},
		{"ended", [][]byte{{147}, request}},
	}
}

func (s *suite) voteBodies() {
	l := layout{s, "vote-body", "quorum.ErrBody", "P-68"}
	put, bad := l.put, l.bad
	l.bodies(voteKinds(), "P-62")
	request := voteKinds()[3].parts[1]
	put(ok("ask-ever", "ask: the greatest span, which a voter cuts to its own", "P-62"), []byte{144}, request, u64(0), u32(1<<32-1))
	put(ok("vote-many", "vote of one that knows more members than there can be", "P-62"), []byte{145}, request, u32(1<<32-1))
	bad("empty", "no byte at all")
	bad("kind-143", "a body that is not about votes", []byte{143}, request)
	bad("kind-148", "kind 148, of a later version", []byte{148}, request)
	put(fault{slug: "greatest", about: "as many bytes as a message bears", req: "P-68"}.malicious(), []byte{144}, copies(511, []byte{0xff}))
}

func (s *suite) ringFields() {
	l := layout{s, "ring-field", "ring.ErrBaton", "P-18"}
	put, bad := l.put, l.bad
	good := func(slug, about string, parts ...[]byte) { put(ok(slug, about, "P-18"), parts...) }
	good("rest", "nobody waits", []byte{0}, u32(0), u32(0))
	good("check", "d, on its check round", []byte{0}, u32(4), u32(0))
	good("active", "d, searching", []byte{1}, u32(4), u32(0))
	good("count", "q, with three requests, and two hops since one was served", []byte{0}, u32(3), u32(2))
	good("greatest", "numbers that no ring has: read as the greatest that it has", []byte{1}, u32(1<<32-1), u32(1<<32-1))
	bad("empty", "no field: of a token that is to go round once")
	bad("short", "one byte is missing", []byte{0}, u32(4), u32(0)[:3])
	bad("long", "one byte more", []byte{0}, u32(4), u32(0), []byte{0})
	bad("state-2", "state 2, of a later version", []byte{2}, u32(4), u32(0))
}

func (s *suite) ringBodies() {
	l := layout{s, "ring-body", "ring.ErrBody", "P-19"}
	put, bad := l.put, l.bad
	condition := slices.Concat(aToken, u64(8))
	for n, name := range []string{"request", "wake", "repeat"} {
		kind := []byte{byte(n + 1)}
		put(ok(name, name+", to four members more", "P-19"), kind, u32(1), u32(4))
		put(ok(name+"-behind", name+" that must not overtake a token", "P-20"), kind, u32(1), u32(4), condition)
	}
	put(ok("requests", "q: three requests in one", "P-19"), []byte{1}, u32(3), u32(4))
	put(ok("greatest", "numbers that no ring has: read as the greatest that it has", "P-19"), []byte{1}, u32(1<<32-1), u32(1<<32-1))
	bad("empty", "no byte at all")
	bad("kind-0", "kind 0", []byte{0}, u32(1), u32(4))
	bad("kind-4", "kind 4, of a later version", []byte{4}, u32(1), u32(4))
	bad("short", "one byte is missing", []byte{1}, u32(1), u32(4)[:3])
	bad("long", "one byte more", []byte{1}, u32(1), u32(4), []byte{0})
	bad("condition-short", "a condition without its last byte", []byte{1}, u32(1), u32(4), condition[:39])
	bad("condition-long", "one byte behind the condition", []byte{1}, u32(1), u32(4), condition, []byte{0})
	put(fault{slug: "count-0", about: "a request of nobody", req: "P-19"}.malicious(), []byte{1}, u32(0), u32(4))
	put(fault{slug: "reach-0", about: "a request to nobody", req: "P-19"}.malicious(), []byte{1}, u32(1), u32(0))
}
