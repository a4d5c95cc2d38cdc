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
	listCrowd        // how many: news about as many members
	listKinds
)

var (
	listSizes   = []int{1, 2, 300, updates.MaxUpdate, updates.MaxTake}
	listCrowds  = []int{1, 8, 64}
	listMembers = []int{0, 1, 2, 10, 1000, 1 << 20, -1}
)

const (
	listEvents = 48
	// listLeft is how many updates more there is room for on lists that begin full:
	// filling them costs as much as hundreds of events, so it is not one of them.
	listLeft = 4
)

// lists are two that are told the same, or one, see checkUpdateList.
type lists struct {
	require.TestingT
	one, other *updates.List
	told       map[[3]byte]int // times that each update was told
	most       int             // times that it may be, by the largest group so far
	made       int
}

// checkUpdateList accepts scripts that are whole. The first byte says whether the
// lists begin empty or full.
func checkUpdateList(t require.TestingT, data []byte) bool {
	s := newScript(data)
	l := &lists{TestingT: t, one: updates.NewList(), other: updates.NewList(), told: make(map[[3]byte]int)}
	full := s.below(2) == 1
	if s.bad {
		return false
	}
	if full { // one of them: it costs as much as all the rest
		l.other = nil
		l.crowd(1, updates.MaxPending-listLeft)
	}
	for range listEvents {
		if s.Len() == 0 {
			return true
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
			l.crowd(2, listCrowds[s.below(len(listCrowds))])
		}
		if s.bad {
			return false
		}
		require.LessOrEqual(t, l.one.Len(), updates.MaxPending)
	}
	return s.Len() == 0
}

// crowd is news about so many members of some kind, always the same ones.
func (l *lists) crowd(kind byte, members int) {
	for i := range members {
		l.add(updates.Key{Kind: updates.KindJoin, Subject: ident.Member{0, kind, byte(i), byte(i >> 8)}}, 1)
	}
}

func (l *lists) add(key updates.Key, size int) {
	l.made++
	raw := make([]byte, size+3)
	raw[0], raw[1], raw[2] = byte(l.made), byte(l.made>>8), byte(l.made>>16)
	l.one.Add(key, raw)
	if l.other != nil {
		l.other.Add(key, raw)
	}
}

func (l *lists) take(capacity, members int, heard byte) {
	var known []byte
	if heard%2 == 1 { // the peer knows what would be told
		known = []byte{heard, 0, 0, 0}
	}
	l.most = max(l.most, updates.Times(members))
	before := l.one.Len()
	taken := l.one.Take(capacity, members, known)
	if l.other != nil {
		require.Equal(l, taken, l.other.Take(capacity, members, known), "another answer to the same events")
	}
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
		0, listAdd, 0, 1, 0, 2, listAdd, 1, 2, 0, 2, listAdd, 2, 3, 4, 1, listAdd, 3, 1, 0, 0,
		listTake, 2, 3, 0, listTake, 10, 3, 1, listAdd, 0, 2, 0, 2, listTake, 10, 0, 0, listTake, 63, 5, 0,
	}
	return map[string][]byte{
		"good-usual": usual,
		"good-full":  append([]byte{1, listAdd, 2, 1, 2, 0, listTake, 9, 4, 0, listCrowd, 1, listTake, 63, 1, 3}, usual[1:]...),
		"good-large": {0, listAdd, 0, 1, 0, 4, listAdd, 0, 2, 0, 3, listTake, 9, 3, 0, listTake, 9, 3, 0},
		"good-kinds": {0, listCrowd, 2, listAdd, 0, 1, 0, 0, listAdd, 2, 1, 2, 0, listAdd, 2, 1, 3, 0, listAdd, 1, 1, 0, 0, listTake, 9, 6, 0},
		"bad-empty":  {}, "bad-beginning": {2}, "bad-event": {0, listKinds}, "bad-kind": {0, listAdd, 4, 1, 1, 1}, "bad-half": {0, listAdd, 0},
		"bad-size": {0, listAdd, 0, 1, 0, 99}, "bad-members": {0, listTake, 1, 99, 0}, "bad-crowd": {0, listCrowd, 3},
	}
}
