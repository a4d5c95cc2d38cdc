package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// knocker is a member that takes its turns like the others, and knocks at the gate besides.
type knocker struct {
	h        *gatehouse
	n, other *node
	mints    bool // a new token each time; else the next title of a token that it has passed to and fro with the other one
	knock    time.Duration
	length   time.Duration // of its sessions by lies
	made     uint64
	stock    gate.Title
	born     uint64
	lies     map[gate.Connection]bool // that wait or are open
}

func (l *knocker) hash() (h ident.Hash) {
	l.made++
	return sha256.Sum256(binary.BigEndian.AppendUint64([]byte("a liar's"), l.made))
}

// permit is the next one that it shows. Its signatures are true, so the gate's machine sees what verifies.
func (l *knocker) permit() gate.Permit {
	now := l.h.reading().Millis()
	if l.mints {
		h := l.hash()
		return gate.Permit{Title: gate.Title{Token: ident.Token(h), Holder: l.n.id, Hash: h}, Generator: l.n.id, Born: now}
	}
	if l.made == 0 {
		h := l.hash()
		l.stock, l.born = gate.Title{Token: ident.Token(h), Holder: l.n.id, Hash: h}, now
	}
	before, between := l.stock.Hash, l.hash()
	l.stock.Hop, l.stock.Hash = l.stock.Hop+2, l.hash()
	return gate.Permit{Title: l.stock, Generator: l.n.id, Born: l.born, Moves: []gate.Move{{By: l.other.id, Title: between}, {By: l.n.id, Title: before}}}
}

// lie knocks, and again and again.
func (l *knocker) lie() {
	h := l.h
	h.c.after(l.knock, l.lie)
	if h.gate == nil {
		return
	}
	h.last++
	id := h.last
	l.lies[id] = true
	h.step(gate.SignIn{Connection: id, Permit: l.permit(), Configuration: l.n.member.Settings().Version, Length: l.length})
}

// hears is what the gate says about a lie.
func (l *knocker) hears(id gate.Connection, a gate.Answer) {
	switch a.(type) {
	case gate.OpenAnswer:
		l.h.c.after(l.length/2, func() {
			if l.h.gate != nil && l.lies[id] {
				l.h.step(gate.SignOut{Connection: id})
			}
		})
	case gate.RefuseAnswer, gate.ClosedAnswer:
		delete(l.lies, id)
	}
}

// TestGated_Liar_EqualShare: members' machines before a gate that all want, and one of them lies: it knocks five times a second with tokens that it makes, or with a stock of titles, besides
// its turns; or it keeps each session as long as it may. It gets no more of the sessions than the others.
func TestGated_Liar_EqualShare(t *testing.T) {
	skipUnderRaceDetector(t)
	times := busyTimes{
		operation: 500 * time.Millisecond, hold: 4 * time.Second, interval: 50 * time.Millisecond, skip: 20 * time.Millisecond,
		gossip: 5 * time.Second, shortest: 400 * time.Millisecond, longest: 600 * time.Millisecond,
	}
	const honest, mints, stocks, keeps = "none", "mints", "stocks", "keeps"
	for _, p := range []busyPolicy{fairTurns, lightTurns}[:whole.Part(1, 2)] {
		for _, members := range []int{5, 20, 100}[:whole.Part(1, 3)] {
			for _, kind := range []string{honest, mints, stocks, keeps} {
				t.Run(fmt.Sprintf("%v, %d members, %s", p, members, kind), func(t *testing.T) {
					set := busySetting(3, members, p, times)
					set.constants.MembersMax = max(members, 5)
					gated(&set.resources[0])
					b := newBusyGroup(t, set, times)
					for i := range members {
						b.add(b.ca.enrol(b.now), memberSetting{durable: true, found: i == 0, driving: grouped})
					}
					bad, h := b.nodes[members-1], b.gates[0]
					l := &knocker{h: h, n: bad, other: b.nodes[members-2], mints: kind == mints, knock: 200 * time.Millisecond, length: time.Second, lies: make(map[gate.Connection]bool)}
					h.told = l.hears
					usual := b.lasts
					b.lasts = func(n *node) time.Duration {
						if kind == keeps && n == bad {
							return times.hold
						}
						return usual(n)
					}
					b.start()
					b.want(b.nodes, 10*time.Millisecond)
					if kind == mints || kind == stocks {
						l.lie()
					}
					b.runFor(2 * time.Minute)
					clear(h.by)
					h.sessions = 0
					from := b.now
					for h.sessions < 25*members {
						b.runFor(10 * time.Second)
						b.tidy()
					}
					share := float64(h.by[bad.id]) / float64(h.sessions) * float64(members)
					others := float64(h.sessions-h.by[bad.id]) / (b.now - from).Seconds()
					t.Logf("%.3f equal shares in %d sessions, %.3f sessions of others a second; %v", share, h.sessions, others, h)
					assert.Empty(t, b.violations)
					if p == fairTurns {
						assert.LessOrEqual(t, share, 1.1)
					}
				})
			}
		}
	}
}
