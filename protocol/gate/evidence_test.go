package gate_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
)

// answers are what a gate has said, as its driver would have signed it.
type answers struct {
	list     []evidence.Statement
	sessions map[uint64][]int          // the answers that name one
	signIns  map[gate.Connection][]int // a connection has one sign-in here
}

// say takes in an answer to a sign-in. Its hash stands for that of the signed bytes: none is signed twice.
func (s *answers) say(to gate.Connection, a *attempt, said gate.Answer) {
	b := wire.AnswerBody{Resource: "ftp", Slot: uint64(a.slot), Member: a.permit.Title.Holder, Title: a.permit.Title.Hash, Answer: said}
	binary.BigEndian.PutUint64(b.Exporter[:], uint64(to))
	n := len(s.list)
	var h ident.Hash
	binary.BigEndian.PutUint64(h[:], uint64(n)+1)
	st := evidence.OfGate(b, [envelope.KeyIDSize]byte{1}, h)
	s.list = append(s.list, st)
	if st.Gate.Session > 0 {
		s.sessions[st.Gate.Session] = append(s.sessions[st.Gate.Session], n)
	}
	s.signIns[to] = append(s.signIns[to], n)
}

// contradictions are how many pairs convict the gate, by kind. Only answers that name one session, or answer one sign-in, can.
func (s *answers) contradictions() map[evidence.Kind]int {
	found := make(map[evidence.Kind]int)
	compare := func(of []int) {
		for i, x := range of {
			for _, y := range of[i+1:] {
				for _, k := range []evidence.Kind{evidence.TwoAnswers, evidence.NumberTwice} {
					if k.Convicts(s.list[x], s.list[y]) || k.Convicts(s.list[y], s.list[x]) {
						found[k]++
					}
				}
			}
		}
	}
	for _, of := range s.sessions {
		compare(of)
	}
	for _, of := range s.signIns {
		compare(of)
	}
	return found
}

// crashing is a world of a gate that crashes often, at which members lie.
func crashing(slots int, forgets bool, seed uint64) *world {
	s := plain
	s.Slots, s.Sessions = slots, 3
	return newWorld(config{
		members: 9, liars: 3, tokens: 4, second: true, crash: 0.01, trouble: 0.02, forge: true, resize: true, want: 0.8,
		signIns: 2000, knock: 2 * time.Second, forgets: forgets, settings: s, seed: seed,
	})
}

// An honest gate convicts itself by nothing that it says, whatever liars show it, whenever it crashes and begins from its journal or
// a checkpoint, and whatever configurations come.
func TestSimulation_HonestGate_NoEvidence(t *testing.T) {
	for n := range uint64(whole.Part(2, 40)) {
		for _, slots := range []int{1, 3} {
			w := crashing(slots, false, *seed+n)
			w.run()
			require.Empty(t, w.said.contradictions(), "seed %d, %d slots", *seed+n, slots)
			require.Empty(t, w.wrong())
			assert.Greater(t, w.crashes, 5)
			assert.Greater(t, len(w.said.sessions), 30)
		}
	}
}

// One whose journal is lost, and whose floor is too low, gives numbers again, and that convicts it. But it says never two things to one
// sign-in: no other life of it has that connection.
func TestSimulation_FloorTooLow_OnlyNumbersTwice(t *testing.T) {
	w := crashing(1, true, *seed)
	w.run()
	found := w.said.contradictions()
	assert.Positive(t, found[evidence.NumberTwice])
	assert.Zero(t, found[evidence.TwoAnswers])
}
