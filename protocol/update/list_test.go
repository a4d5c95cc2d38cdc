package update_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
)

func member(n int) (m ident.Member) {
	binary.BigEndian.PutUint64(m[:], uint64(n))
	return m
}

func join(n int) update.Key { return update.Key{Kind: update.KindJoin, Subject: member(n)} }

// texts are updates as strings, in order.
func texts(raws [][]byte) []string {
	var all []string
	for _, raw := range raws {
		all = append(all, string(raw))
	}
	return all
}

func TestTimes(t *testing.T) {
	for members, want := range map[int]int{0: 4, 1: 4, 2: 4, 4: 5, 10: 7, 191: 16, 999: 21, 1000: 14, 10_000: 19, 1_000_000: 28} {
		assert.Equal(t, want, update.Times(members), members)
	}
}

func TestList_Take_NewestThenLeastTold(t *testing.T) {
	l := update.NewList()
	for n := range 3 {
		l.Add(join(n), fmt.Append(nil, n))
	}
	assert.Equal(t, []string{"2", "1"}, texts(l.Take(2, 10)))
	assert.Equal(t, []string{"0", "2"}, texts(l.Take(2, 10)), "the one not told yet goes first")
	l.Add(join(3), []byte("3"))
	assert.Equal(t, []string{"3", "1", "0"}, texts(l.Take(3, 10)))
	assert.Empty(t, l.Take(0, 10))
	assert.Equal(t, 4, l.Len())
}

func TestList_Update_ToldSoOften(t *testing.T) {
	l := update.NewList()
	l.Add(join(1), []byte("1"))
	for range update.Times(191) {
		assert.Equal(t, 1, l.Len())
		assert.Equal(t, []string{"1"}, texts(l.Take(10, 191)))
	}
	assert.Zero(t, l.Len())
	assert.Empty(t, l.Take(10, 191))

	l.Add(join(1), []byte("1"))
	for range 6 {
		l.Take(10, 191)
	}
	l.Take(10, 2)
	assert.Zero(t, l.Len(), "the group has become small meanwhile")
}

// Whoever said it need not be told.
func TestList_Heard_NotTold(t *testing.T) {
	l := update.NewList()
	for n := range 3 {
		l.Add(join(n), fmt.Append(nil, n))
	}
	assert.Equal(t, []string{"1"}, texts(l.Take(1, 10, []byte("2"), []byte("9"))))
	assert.Equal(t, []string{"2", "0", "1"}, texts(l.Take(10, 10)), "and is not counted")
	assert.Empty(t, l.Take(10, 10, []byte("0"), []byte("1"), []byte("2")))
	assert.Equal(t, 3, l.Len())
}

func TestList_SameSubject_Replaced(t *testing.T) {
	l := update.NewList()
	l.Add(join(1), []byte("old"))
	l.Add(join(1), []byte("new"))
	assert.Equal(t, 1, l.Len())
	for range update.Times(10) {
		assert.Equal(t, []string{"new"}, texts(l.Take(10, 10)))
	}
	assert.Empty(t, l.Take(10, 10))

	l.Add(join(1), []byte("same"))
	l.Take(1, 10)
	l.Add(join(1), []byte("same"))
	for range update.Times(10) - 1 {
		assert.Len(t, l.Take(10, 10), 1)
	}
	assert.Empty(t, l.Take(10, 10), "the same is no news")
}

// A member that signs one endpoint record after the other does not keep others'
// news off the tokens, and its newest one is told as often as any.
func TestList_Chatter_BehindNews(t *testing.T) {
	l := update.NewList()
	for n := range 8 {
		l.Add(join(1), fmt.Append(nil, "chatter ", n))
		l.Take(1, 10)
	}
	l.Add(join(2), []byte("quiet"))
	l.Add(join(1), []byte("chatter 8"))
	for range update.Times(10) {
		assert.Equal(t, []string{"quiet"}, texts(l.Take(1, 10)))
	}
	for range update.Times(10) {
		assert.Equal(t, []string{"chatter 8"}, texts(l.Take(1, 10)))
	}
	assert.Zero(t, l.Len())
}

// Failure statements of several witnesses stand beside each other; a leave or a
// revocation takes the place of everything about the member.
func TestList_Departed_OthersRemoved(t *testing.T) {
	witness := func(n int) update.Key {
		return update.Key{Kind: update.KindFailure, Subject: member(1), Witness: member(n)}
	}
	for _, end := range []update.Kind{update.KindLeave, update.KindRevocation} {
		l := update.NewList()
		l.Add(join(1), []byte("join"))
		l.Add(witness(2), []byte("2 says"))
		l.Add(witness(3), []byte("3 says"))
		l.Add(join(2), []byte("other"))
		assert.Equal(t, 4, l.Len())
		l.Add(update.Key{Kind: end, Subject: member(1)}, []byte("end"))
		assert.Equal(t, []string{"end", "other"}, texts(l.Take(10, 10)), end.String())
	}
	l := update.NewList()
	l.Add(update.Key{Kind: update.KindRevocation, Subject: member(1)}, []byte("revoked"))
	l.Add(update.Key{Kind: update.KindLeave, Subject: member(1)}, []byte("left"))
	assert.Equal(t, []string{"left", "revoked"}, texts(l.Take(10, 10)), "a revocation has a version that others wait for")
}

// A message has room for four of the largest, and the next one begins with what
// did not fit.
func TestList_Take_FitsAMessage(t *testing.T) {
	l := update.NewList()
	for n := range 6 {
		l.Add(join(n), object(update.MaxUpdate-n))
	}
	assert.Len(t, l.Take(10, 10), update.MaxTake/update.MaxUpdate)
	next := l.Take(10, 10)
	assert.Len(t, next[0], update.MaxUpdate-1)
	assert.Len(t, next[1], update.MaxUpdate)
}

func TestFullList(t *testing.T) {
	l := update.NewList()
	for n := range update.MaxPending {
		l.Add(join(n), fmt.Append(nil, n))
	}
	l.Take(2, 10) // the two newest
	l.Add(join(5000), []byte("one more"))
	assert.Equal(t, update.MaxPending, l.Len())
	l.Add(join(5001), []byte("and one"))
	l.Add(join(5002), []byte("and one"))
	all := map[string]bool{}
	for range update.MaxPending/10 + 1 {
		for _, text := range texts(l.Take(10, 1_000_000)) {
			all[text] = true
		}
	}
	assert.False(t, all[fmt.Sprint(update.MaxPending-1)], "was told already")
	assert.False(t, all[fmt.Sprint(update.MaxPending-2)], "was told already")
	assert.False(t, all["0"], "the oldest")
	assert.True(t, all["1"])
	assert.True(t, all["one more"])
}

// plain is a List without a heap: it looks at everything each time.
type plain struct{ items []*entry }

type entry struct {
	key        update.Key
	raw        string
	told, rank int
}

func (p *plain) add(key update.Key, raw string) {
	rank := 0
	if i := slices.IndexFunc(p.items, func(e *entry) bool { return e.key == key }); i >= 0 {
		if p.items[i].raw == raw {
			return
		}
		rank = p.items[i].rank
	}
	p.items = slices.DeleteFunc(p.items, func(e *entry) bool {
		ends := key.Kind == update.KindLeave || key.Kind == update.KindRevocation
		return e.key == key || ends && e.key.Subject == key.Subject && e.key.Kind != update.KindRevocation
	})
	p.items = append(p.items, &entry{key: key, raw: raw, rank: rank})
}

func (p *plain) take(capacity, members int, heard string) (raws []string) {
	// The raws of the test are numbers in the order of adding.
	slices.SortFunc(p.items, func(a, b *entry) int {
		return cmp.Or(a.rank-b.rank, number(b.raw)-number(a.raw))
	})
	for _, e := range p.items {
		if len(raws) < capacity && e.raw != heard {
			raws = append(raws, e.raw)
			e.told++
			e.rank++
		}
	}
	p.items = slices.DeleteFunc(p.items, func(e *entry) bool { return e.told >= update.Times(members) })
	return raws
}

func number(raw string) (n int) {
	_, _ = fmt.Sscan(raw, &n)
	return n
}

// A List does what a plain one does: least told first, newest first among
// equals, none more than Times times, none twice in a message.
func TestList_AnyUse_AgreesWithPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, p := update.NewList(), &plain{}
		told := map[string]int{}
		added := 0
		members := rapid.SampledFrom([]int{2, 10, 50}).Draw(t, "members")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "add") {
				key := update.Key{
					Kind:    update.Kind(rapid.IntRange(1, 4).Draw(t, "kind")),
					Subject: member(rapid.IntRange(1, 4).Draw(t, "subject")),
				}
				if key.Kind == update.KindFailure {
					key.Witness = member(rapid.IntRange(1, 3).Draw(t, "witness"))
				}
				added++
				raw := fmt.Sprint(added)
				l.Add(key, []byte(raw))
				p.add(key, raw)
				continue
			}
			capacity := rapid.IntRange(0, 5).Draw(t, "capacity")
			heard := fmt.Sprint(rapid.IntRange(0, added).Draw(t, "heard"))
			got := texts(l.Take(capacity, members, []byte(heard)))
			require.Equal(t, p.take(capacity, members, heard), got)
			for _, raw := range got {
				told[raw]++
				require.LessOrEqual(t, told[raw], update.Times(members))
			}
			require.Equal(t, len(p.items), l.Len())
		}
	})
}

// However many there are, a list stays bounded, and so does what it hands out.
func TestPropertyBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := update.NewList()
		n := 0
		for range rapid.IntRange(1, 12).Draw(t, "bursts") {
			for range rapid.IntRange(1, 400).Draw(t, "burst") {
				n++
				l.Add(join(n), object(rapid.SampledFrom([]int{500, update.MaxUpdate}).Draw(t, "size")))
			}
			size := 0
			raws := l.Take(32, 100)
			for _, raw := range raws {
				size += len(raw)
			}
			require.LessOrEqual(t, size, update.MaxTake)
			require.NotEmpty(t, raws)
			require.LessOrEqual(t, l.Len(), update.MaxPending)
		}
	})
}

// BenchmarkTake is a member's message with ten updates, on a list of usual
// length and on a full one.
func BenchmarkTake(b *testing.B) {
	for _, waiting := range []int{10, update.MaxPending} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			l := update.NewList()
			for n := range waiting {
				l.Add(join(n), object(500))
			}
			n := waiting
			b.ReportAllocs()
			for b.Loop() {
				for l.Len() < waiting {
					n++
					l.Add(join(n), object(500))
				}
				l.Take(10, 10_000)
			}
		})
	}
}

// BenchmarkAdd is news on a list that is full.
func BenchmarkAdd(b *testing.B) {
	l, raw := update.NewList(), object(500)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		l.Add(join(n), raw)
	}
}
