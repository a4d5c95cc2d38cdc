package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestFounding_Name_NoPolicy: P-47. Its messages are nobody else's.
func TestFounding_Name_NoPolicy(t *testing.T) {
	assert.NotContains(t, catalog.Names(), member.Founding)
}

const (
	ask byte = iota + 1
	clearOf
	wait
	isKnown
)

// founders is a member and two peers, with the ranks of all three for the slot that is
// to be added.
type founders struct {
	*box
	a      *authority
	ranked []*someone // the highest first
}

// newFounders is a member that ranks so high, 0 the highest, with its peers connected.
func newFounders(t *testing.T, at int) *founders {
	a := newAuthority(t)
	people := []*someone{a.issue(1, 24*time.Hour), a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)}
	ranks := directory.NewWitnessRank(a.group.ID(), directory.SlotID("added", 0))
	f := &founders{a: a}
	for len(f.ranked) < len(people) {
		var top *someone
		for _, s := range people {
			if !contains(f.ranked, s) && (top == nil || directory.Above(ranks.Of(s.id()), ranks.Of(top.id()))) {
				top = s
			}
		}
		f.ranked = append(f.ranked, top)
	}
	f.box = a.open(f.ranked[at], nil)
	f.step(member.Announce{Addresses: []string{"self.example.org:1"}})
	for _, s := range f.peers() {
		f.step(member.Learn{Certificates: [][]byte{s.certificate.Raw()}, Endpoints: [][]byte{endpointAt(s)}})
		f.meet(s)
	}
	return f
}

func contains(list []*someone, s *someone) bool {
	for _, o := range list {
		if o == s {
			return true
		}
	}
	return false
}

func endpointAt(s *someone) []byte {
	e, err := certificate.Endpoint{
		Member: s.id(), Sequence: 1, Mode: certificate.Reachable, Addresses: []string{"a.example.org:1"},
	}.Sign(s.group, s.key)
	if err != nil {
		panic(err)
	}
	return e.Raw()
}

func (f *founders) peers() (list []*someone) {
	for _, s := range f.ranked {
		if s.id() != f.ID() {
			list = append(list, s)
		}
	}
	return list
}

// add adds a slot.
func (f *founders) add() { f.sharing(f.a, 2, map[string]int{resource: 1, "added": 1}) }

// told is what the member has said about founding in its last step, and to whom.
func (f *founders) told() map[ident.Member]byte {
	list := make(map[ident.Member]byte)
	for _, e := range f.effects {
		if s, ok := e.(effect.Send); ok {
			if m, ok := s.Message.(*wire.Policy); ok && m.Policy == member.Founding {
				list[s.To] = m.Body[0]
			}
		}
	}
	return list
}

// says is a message about founding from a peer.
func (f *founders) says(s *someone, what ...byte) {
	f.hear(s, &wire.Policy{Resource: "added", Policy: member.Founding, Configuration: 2, Body: what})
}

// holds reports whether the added slot has a token here.
func (f *founders) holds() bool { return f.Holds("added") }

// pass lets so much time pass, in small steps, and returns who was asked meanwhile.
func (f *founders) pass(d time.Duration) map[ident.Member]byte {
	all := make(map[ident.Member]byte)
	for range d / (50 * time.Millisecond) {
		f.after(50 * time.Millisecond)
		for id, what := range f.told() {
			all[id] = what
		}
	}
	return all
}

// TestFounding_Messages_Answered: P-47, from the side of each rank.
func TestFounding_Messages_Answered(t *testing.T) {
	t.Run("the highest generates when somebody answers and nobody objects", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		require.Equal(t, map[ident.Member]byte{f.ranked[1].id(): ask, f.ranked[2].id(): ask}, f.pass(time.Second/2))
		f.says(f.ranked[2], clearOf)
		f.pass(2 * time.Second)
		require.False(t, f.holds(), "the other may be slow to say that there is a token")
		f.pass(time.Second)
		assert.True(t, f.holds())
		f.says(f.ranked[1], ask)
		assert.Equal(t, isKnown, f.told()[f.ranked[1].id()])
	})
	t.Run("all answer", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		f.pass(time.Second / 2)
		f.says(f.ranked[1], clearOf)
		f.says(f.ranked[2], clearOf)
		f.pass(time.Second)
		assert.True(t, f.holds())
	})
	t.Run("an answer comes late", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		f.pass(time.Second / 2)
		f.says(f.ranked[1], clearOf)
		f.pass(time.Second)
		f.says(f.ranked[2], isKnown)
		f.pass(30 * time.Second)
		assert.False(t, f.holds())
	})
	t.Run("nobody answers", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		f.pass(30 * time.Second)
		assert.False(t, f.holds(), "it may be cut off: that is left to the policy")
	})
	t.Run("a token is known", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		f.pass(time.Second / 2)
		f.says(f.ranked[1], clearOf)
		f.says(f.ranked[2], isKnown)
		assert.Empty(t, f.pass(30*time.Second))
		assert.False(t, f.holds())
	})
	t.Run("another waits for it", func(t *testing.T) {
		f := newFounders(t, 0)
		f.add()
		f.says(f.ranked[1], ask)
		assert.Equal(t, wait, f.told()[f.ranked[1].id()])
	})
	t.Run("a lower one waits for those above", func(t *testing.T) {
		f := newFounders(t, 1)
		f.add()
		require.Equal(t, map[ident.Member]byte{f.ranked[0].id(): ask}, f.pass(time.Second/2))
		f.says(f.ranked[0], wait)
		f.pass(5 * time.Second)
		require.False(t, f.holds())
		f.says(f.ranked[0], ask)
		require.Equal(t, clearOf, f.told()[f.ranked[0].id()])
		f.says(f.ranked[2], ask)
		require.Equal(t, wait, f.told()[f.ranked[2].id()], "one that ranks higher has asked")
		f.says(f.ranked[0], clearOf)
		f.pass(time.Second / 2)
		assert.False(t, f.holds(), "it is about to generate itself")
	})
	t.Run("those above say that they do not", func(t *testing.T) {
		f := newFounders(t, 1)
		f.add()
		f.pass(time.Second / 2)
		f.says(f.ranked[0], clearOf)
		f.pass(4 * time.Second)
		assert.True(t, f.holds())
	})
	t.Run("nobody was asked", func(t *testing.T) {
		f := newFounders(t, 0)
		f.says(f.ranked[1], clearOf)
		f.says(f.ranked[1], isKnown)
		f.add()
		for _, what := range [][]byte{{isKnown}, {wait}, {}, {9}, {isKnown, isKnown}} {
			f.says(f.ranked[1], what...) // before the question
		}
		f.pass(time.Second / 2)
		f.says(f.ranked[1], clearOf)
		f.pass(3 * time.Second)
		assert.True(t, f.holds())
	})
	t.Run("a member that does not found", func(t *testing.T) {
		f := newFounders(t, 2)
		f.add()
		f.pass(25 * time.Second)
		f.says(f.ranked[1], ask)
		assert.Equal(t, clearOf, f.told()[f.ranked[1].id()])
	})
}

// TestFounding_FirstConfiguration_NothingAdded: P-47. A member that joins knows of no
// slot that there was not.
func TestFounding_FirstConfiguration_NothingAdded(t *testing.T) {
	f := newFounders(t, 0)
	assert.Empty(t, f.pass(25*time.Second))
	f.restart()
	f.meet(f.ranked[1])
	assert.Empty(t, f.pass(25*time.Second))
	assert.False(t, f.Holds(resource))
}

// TestFounding_NewGroupFile_Added: P-47. The operator has put a newer group file in
// place while the member was down.
func TestFounding_NewGroupFile_Added(t *testing.T) {
	f := newFounders(t, 0)
	g, err := f.Group().Update(f.a.sharing(2, map[string]int{resource: 1, "added": 1}), nil)
	require.NoError(t, err)
	f.cfg.Group = g
	f.restart()
	for _, s := range f.peers() {
		f.meet(s)
	}
	require.Len(t, f.pass(time.Second/2), 2)
	f.says(f.ranked[1], clearOf)
	f.pass(3 * time.Second)
	require.True(t, f.holds())
	f.cfg.Found = true
	f.restart()
	f.pass(6 * time.Second) // nobody greets
	assert.EqualValues(t, 1, f.Status().Generated, "the resource that was there all the time is founded by the operator")
}
