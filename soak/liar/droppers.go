package main

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// idler is a dropper that answers no question for a token once it has had one. As a keeper
// its machine notes each want, and looks for no token. It keeps the tokens that its machine
// makes.
type idler struct{ *dropper }

func newIdler(a *agent) (kind, error) { return idler{&dropper{silent: silent{a}}}, nil }

func (i idler) says(_ ident.Member, m wire.Message) bool {
	switch m.(type) {
	case *wire.Offer, *wire.Transfer:
		return false
	}
	switch keeperKind(m) {
	case ask:
		i.report.Withheld++
		return false
	case have, rest, back, went, none:
		if i.taken > 0 {
			i.report.Withheld++
			return false
		}
	}
	return true
}

// misleader is a dropper that answers each question for a token by something that ends no
// search: that it is on its way at a later hop, or, as a pretender, that it was there before a
// restart.
type misleader struct {
	*dropper
	pretends bool
	hop      uint64 // that it has named
}

func newMisleader(a *agent) (kind, error) {
	return &misleader{dropper: &dropper{silent: silent{a}}}, nil
}

func newPretender(a *agent) (kind, error) {
	return &misleader{dropper: &dropper{silent: silent{a}}, pretends: true}, nil
}

// onItsWay is the span of a token in transit, in ms: it has left just now.
const onItsWay = 1

func (l *misleader) heard(from ident.Member, m wire.Message) bool {
	if keeperKind(m) != ask {
		return l.dropper.heard(from, m)
	}
	p := m.(*wire.Policy)
	honest := l.honest()
	if len(p.Body) <= custodySize || len(honest) == 0 {
		return true
	}
	c := slices.Clone(p.Body[1 : 1+custodySize])
	if l.pretends { // the token's birth, the process and the serial of a promise
		l.answer(from, p, slices.Concat([]byte{back}, c, make([]byte, 8+8+4)))
		return false
	}
	if hop := binary.BigEndian.Uint64(c[32:]); hop != math.MaxUint64 { // which stands for any
		l.hop = max(l.hop, hop)
	}
	l.hop++
	binary.BigEndian.PutUint64(c[32:], l.hop)
	to := honest[l.hop%uint64(len(honest))]
	l.answer(from, p, binary.BigEndian.AppendUint32(slices.Concat([]byte{went}, c, to[:]), onItsWay))
	return false
}

// favourer passes tokens to the second half of the honest members only, by their names: its
// machine believes that all others refuse them.
type favourer struct{ silent }

func newFavourer(a *agent) (kind, error) { return favourer{silent{a}}, nil }

func (favourer) wants() bool { return true }

// likes reports whether it passes a member tokens.
func (f favourer) likes(m ident.Member) bool {
	names := make([]string, 0, len(f.connected))
	name := ""
	for _, c := range f.connected {
		if slices.Contains(f.bad, c.Name()) {
			continue
		}
		if c.Member() == m {
			name = c.Name()
		}
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return slices.Index(names, name) >= len(names)/2
}

func (f favourer) says(to ident.Member, m wire.Message) bool {
	o, ok := m.(*wire.Offer)
	if !ok || f.likes(to) {
		return true
	}
	f.report.Withheld++
	body, err := wire.Encode(&wire.Refuse{Token: o.Token, Hop: o.Hop, Reason: wire.RefuseBusy})
	if err != nil {
		f.ended = err
		return false
	}
	f.life.put(func() { f.received(to, body) })
	return false
}
