package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// The keepers' messages that bad members make or hold back (P-50), and where in them.
const (
	want  = policy.KeeperKind
	noted = policy.KeeperKind + 1
	have  = policy.KeeperKind + 2
	rest  = policy.KeeperKind + 3
	back  = policy.KeeperKind + 5 // returned
	ask   = policy.KeeperKind + 8
	went  = policy.KeeperKind + 9
	none  = policy.KeeperKind + 10

	custodySize = 32 + 8
)

// keeperKind is the kind of a message between keepers, 0 of any other.
func keeperKind(m wire.Message) byte {
	if p, ok := m.(*wire.Policy); ok && len(p.Body) > 0 && p.Body[0] >= policy.KeeperKind {
		return p.Body[0]
	}
	return 0
}

// answer answers a message between keepers by another one.
func (a *agent) answer(to ident.Member, m *wire.Policy, body []byte) {
	a.report.Questions++
	a.say(to, &wire.Policy{Resource: m.Resource, Slot: m.Slot, Policy: m.Policy, Configuration: m.Configuration, Body: body})
}

func withSpan(body []byte, span time.Duration) []byte {
	return binary.BigEndian.AppendUint32(body, uint32(min(span.Milliseconds(), math.MaxUint32)))
}

// dropper takes each token that it is passed, and forgets it. Its machine does not hear of
// the token, and answers that it has none.
type dropper struct {
	silent
	taken int
}

// deadFor is how long a RECEIPT is given to arrive before the dropper plays dead.
const deadFor = 50 * time.Millisecond

func newDropper(a *agent) (kind, error) {
	if !slices.Contains([]string{"", "mute", "half", "dead"}, a.variant) {
		return nil, fmt.Errorf("-variant %q: must be mute, half or dead", a.variant)
	}
	return &dropper{silent: silent{a}}, nil
}

func (*dropper) wants() bool { return true }

func (d *dropper) heard(from ident.Member, m wire.Message) bool {
	t, ok := m.(*wire.Transfer)
	if !ok {
		return true
	}
	d.taken++
	if d.variant == "half" && d.taken%2 == 0 {
		return true
	}
	d.report.Kept++
	if d.variant == "mute" {
		return false
	}
	if _, _, err := d.receive(from, t); err != nil {
		fmt.Println("not received:", err)
	}
	if l := d.life; d.variant == "dead" {
		time.AfterFunc(deadFor, func() { l.put(func() { d.again(context.Background()) }) })
	}
	return false
}

// friends are several bad members that pass each token that one of them gets among
// themselves, with valid transfers. They answer questions truthfully.
type friends struct {
	silent
	held   map[ident.Token]*held
	passed map[ident.Token]passed
}

type held struct {
	title token.Title
	field []byte
}

// passed says where a token went.
type passed struct {
	hop uint64
	to  ident.Member
}

func newFriends(a *agent) (kind, error) {
	return &friends{silent: silent{a}, held: make(map[ident.Token]*held), passed: make(map[ident.Token]passed)}, nil
}

func (*friends) wants() bool { return true }

// friend is the next bad member, if it is connected.
func (f *friends) friend() (ident.Member, bool) {
	at := slices.Index(f.bad, f.id.Certificate.Name())
	name := f.bad[(at+1)%len(f.bad)]
	for _, c := range f.connected {
		if c.Name() == name {
			return c.Member(), true
		}
	}
	return ident.Member{}, false
}

func (f *friends) heard(from ident.Member, m wire.Message) bool {
	switch m := m.(type) {
	case *wire.Transfer:
		f.take(from, m)
		return false
	case *wire.Policy:
		if keeperKind(m) == ask {
			return !f.tellTruth(from, m)
		}
	}
	return true
}

// take takes a token, and passes it on after a while.
func (f *friends) take(from ident.Member, m *wire.Transfer) {
	title, field, err := f.receive(from, m)
	if err != nil {
		fmt.Println("not received:", err)
		return
	}
	id := title.Token()
	if slices.Contains(f.honest(), from) {
		f.report.Kept++
	}
	f.held[id] = &held{title, field}
	delete(f.desk.held, id)
	f.later(id)
}

func (f *friends) later(id ident.Token) {
	l := f.life
	time.AfterFunc(programTime, func() { l.put(func() { f.pass(id) }) })
}

// pass hands a token to the next friend.
func (f *friends) pass(id ident.Token) {
	h := f.held[id]
	if h == nil {
		return
	}
	to, ok := f.friend()
	if !ok || to == f.self {
		f.later(id)
		return
	}
	p := &heldToken{to: to, title: h.title, field: h.field, certificates: f.certificates(h.title.Signers())}
	p.done = func() {
		f.report.Passed++
		delete(f.held, id)
		f.passed[id] = passed{h.title.Hop() + 1, to}
	}
	p.refused = func() { f.later(id) }
	f.offer(p)
}

// tellTruth answers a question about a token, if this member knows more than its machine.
func (f *friends) tellTruth(from ident.Member, m *wire.Policy) bool {
	for id, h := range f.held {
		body := binary.BigEndian.AppendUint64(append([]byte{have}, id[:]...), h.title.Hop())
		f.answer(from, m, withSpan(body, programTime))
		return true
	}
	if len(m.Body) <= custodySize {
		return false
	}
	id := ident.Token(m.Body[1:33])
	p, known := f.passed[id]
	if !known {
		return false
	}
	body := binary.BigEndian.AppendUint64(append([]byte{went}, id[:]...), p.hop)
	f.answer(from, m, withSpan(append(body, p.to[:]...), 0))
	return true
}
