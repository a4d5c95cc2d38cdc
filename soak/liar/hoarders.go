package main

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// hoarder takes each token that it is passed, and passes none on. It says to all that ask
// that it has the token they ask about, and that a program runs.
type hoarder struct{ silent }

func newHoarder(a *agent) (kind, error) { return hoarder{silent{a}}, nil }

func (hoarder) wants() bool { return true }

func (h hoarder) heard(from ident.Member, m wire.Message) bool {
	switch keeperKind(m) {
	case ask:
		p := m.(*wire.Policy)
		if len(p.Body) > custodySize {
			h.claims(from, p, p.Body[1:1+custodySize])
		}
		return false
	case want: // it is the keeper: all is well, and need not be said again
		h.answer(from, m.(*wire.Policy), withSpan([]byte{noted}, math.MaxInt64))
		return false
	}
	if _, ok := m.(*wire.Transfer); ok {
		h.report.Kept++
	}
	return true
}

func (h hoarder) says(_ ident.Member, m wire.Message) bool {
	switch keeperKind(m) {
	case rest, went, none:
		return false
	}
	switch m.(type) {
	case *wire.Offer, *wire.Transfer:
		return false
	}
	return true
}

// claims says that a program runs under a token, in answer to a message between keepers.
func (a *agent) claims(to ident.Member, m *wire.Policy, custody []byte) {
	a.answer(to, m, withSpan(slices.Concat([]byte{have}, custody), a.span))
}

// dodger is a hoarder that answers for dodgerTalks, and then says nothing between keepers for
// dodgerPauses, in turn: nobody has heard for twice the silence that it has the token.
type dodger struct {
	hoarder
	began clock.Instant
	now   func() clock.Instant
}

const dodgerTalks, dodgerPauses = 6 * time.Second, 3 * time.Second

func newDodger(a *agent) (kind, error) {
	return &dodger{hoarder: hoarder{silent{a}}, began: boottime.Now(), now: boottime.Now}, nil
}

func (d *dodger) pauses() bool { return d.now().Sub(d.began)%(dodgerTalks+dodgerPauses) >= dodgerTalks }

func (d *dodger) heard(from ident.Member, m wire.Message) bool {
	if k := keeperKind(m); d.pauses() && (k == ask || k == want) {
		return false
	}
	return d.hoarder.heard(from, m)
}

func (d *dodger) says(to ident.Member, m wire.Message) bool {
	if d.pauses() && keeperKind(m) != 0 {
		d.report.Withheld++
		return false
	}
	return d.hoarder.says(to, m)
}

// evader passes the first tokens on, as an honest member, and then hoards. It says each time
// that it has another one of those. Its machine ends an inquest about that one by the receipt
// of its pass.
type evader struct {
	hoarder
	had  [][]byte // the custodies that it has passed on, the oldest one first
	told int
}

// evaderPasses is how many tokens an evader passes on before it hoards.
const evaderPasses = 8

func newEvader(a *agent) (kind, error) { return &evader{hoarder: hoarder{silent{a}}}, nil }

func (e *evader) hoards() bool { return len(e.had) == evaderPasses }

func (e *evader) heard(from ident.Member, m wire.Message) bool {
	if e.hoards() && keeperKind(m) == ask {
		e.claimsAnother(from, m)
		return false
	}
	return !e.hoards() || e.hoarder.heard(from, m)
}

func (e *evader) says(to ident.Member, m wire.Message) bool {
	if t, ok := m.(*wire.Transfer); ok {
		return e.passes(t)
	}
	if !e.hoards() {
		return true
	}
	if keeperKind(m) == have {
		e.claimsAnother(to, m)
		return false
	}
	return e.hoarder.says(to, m)
}

// passes reports whether a transfer is one of the first, and remembers its custody.
func (e *evader) passes(t *wire.Transfer) bool {
	b, _, err := token.PeekTransfer(e.id.Group.ID(), t.Transfer)
	if err != nil {
		e.ended = err
		return false
	}
	c := binary.BigEndian.AppendUint64(b.Token[:], b.Hop-1)
	switch {
	case slices.ContainsFunc(e.had, func(o []byte) bool { return slices.Equal(o, c) }):
		return true // it is sent again
	case e.hoards():
		return false
	}
	e.had = append(e.had, c)
	e.report.Passed++
	return true
}

// claimsAnother says that it has the next one of the tokens that it had.
func (e *evader) claimsAnother(to ident.Member, m wire.Message) {
	e.claims(to, m.(*wire.Policy), e.had[e.told%len(e.had)])
	e.told++
}
