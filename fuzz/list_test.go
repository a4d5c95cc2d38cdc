package fuzz

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
	updates "github.com/wandertoken/wander/protocol/update"
)

// FuzzUpdateList: a list of updates, under any sequence of news and messages. It
// keeps its bounds, tells nobody what it has just heard, tells each update as
// often as it should and no more, and does the same for the same.
//
//fuzz:of protocol/update
func FuzzUpdateList(f *testing.F) { targets["FuzzUpdateList"].Fuzz(f) }

const (
	listAdd   = iota // kind, subject, witness, size
	listTake         // capacity, members, which to have heard
	listCrowd        // how many in hundreds: news about as many members
	listKinds
)

var (
	listSizes   = []int{1, 2, 300, updates.MaxUpdate, updates.MaxTake}
	listMembers = []int{0, 1, 2, 10, 1000, 1 << 20, -1}
)

const listEvents = 200

// lists are two that are told the same.
type lists struct {
	require.TestingT
	one, other *updates.List
	told       map[[3]byte]int // times that each update was told
	most       int             // times that it may be, by the largest group so far
	made       int
}

// checkUpdateList accepts scripts that are whole.
func checkUpdateList(t require.TestingT, data []byte) bool {
	s := newScript(data)
	l := &lists{TestingT: t, one: updates.NewList(), other: updates.NewList(), told: make(map[[3]byte]int)}
	crowds := 0
	for range listEvents {
		if s.Len() == 0 {
			return len(data) > 0
		}
		switch s.below(listKinds) {
		case listAdd:
			kind := updates.Kind(1 + s.below(int(updates.KindRevocation)))
			key := updates.Key{Kind: kind, Subject: ident.Member{1 + s.byte()}}
			if witness := s.byte(); kind == updates.KindFailure {
				key.Witness = ident.Member{1 + witness}
			}
			l.add(key, listSizes[s.below(len(listSizes))])
		case listTake:
			capacity, members := s.among(64), listMembers[s.below(len(listMembers))]
			l.take(capacity, members, s.byte())
		case listCrowd:
			n := s.among(12)
			if crowds++; crowds > 1 { // each costs as much as hundreds of events
				return false
			}
			for i := range 100 * n {
				l.add(updates.Key{Kind: updates.KindJoin, Subject: ident.Member{0, byte(i), byte(i >> 8)}}, 1)
			}
		}
		if s.bad {
			return false
		}
		require.LessOrEqual(t, l.one.Len(), updates.MaxPending)
	}
	return s.Len() == 0
}

func (l *lists) add(key updates.Key, size int) {
	l.made++
	raw := make([]byte, size+3)
	raw[0], raw[1], raw[2] = byte(l.made), byte(l.made>>8), byte(l.made>>16)
	l.one.Add(key, raw)
	l.other.Add(key, raw)
}

func (l *lists) take(capacity, members int, heard byte) {
	var known []byte
	if heard%2 == 1 { // the peer knows what would be told
		known = []byte{heard, 0, 0, 0}
	}
	l.most = max(l.most, updates.Times(members))
	before := l.one.Len()
	taken := l.one.Take(capacity, members, known)
	require.Equal(l, taken, l.other.Take(capacity, members, known), "another answer to the same events")
	require.LessOrEqual(l, len(taken), max(0, capacity))
	total, here := 0, make(map[[3]byte]bool, len(taken))
	for _, raw := range taken {
		name := [3]byte(raw)
		if total += len(raw); bytes.Equal(known, raw) || here[name] || l.told[name] == l.most {
			require.Fail(l, "told to whom has just said it, twice in one message, or too often", "%x", name)
		}
		here[name] = true
		l.told[name]++
	}
	require.LessOrEqual(l, total, updates.MaxTake)
	require.LessOrEqual(l, l.one.Len(), before)
}

func updateListSeeds() map[string][]byte {
	usual := []byte{
		listAdd, 0, 1, 0, 2, listAdd, 1, 2, 0, 2, listAdd, 2, 3, 4, 1, listAdd, 3, 1, 0, 0,
		listTake, 2, 3, 0, listTake, 10, 3, 1, listAdd, 0, 2, 0, 2, listTake, 10, 0, 0, listTake, 63, 5, 0,
	}
	return map[string][]byte{
		"good-usual": usual,
		"good-full":  append([]byte{listAdd, 2, 1, 2, 0, listTake, 9, 4, 0, listCrowd, 11, listTake, 63, 1, 3}, usual...),
		"good-large": {listAdd, 0, 1, 0, 4, listAdd, 0, 2, 0, 3, listTake, 9, 3, 0, listTake, 9, 3, 0},
		"good-kinds": {listAdd, 0, 1, 0, 0, listAdd, 2, 1, 2, 0, listAdd, 2, 1, 3, 0, listAdd, 1, 1, 0, 0, listTake, 9, 6, 0},
		"bad-empty":  {}, "bad-event": {listKinds}, "bad-kind": {listAdd, 4, 1, 1, 1}, "bad-half": {listAdd, 0},
		"bad-size": {listAdd, 0, 1, 0, 99}, "bad-members": {listTake, 1, 99, 0}, "bad-crowds": {listCrowd, 1, listCrowd, 1},
	}
}
