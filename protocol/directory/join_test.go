package directory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// The bound is the same wherever it has a name.
func TestQuorumBounds(t *testing.T) {
	assert.Equal(t, group.MaxFailureQuorum, MaxFailureQuorum)
	assert.Equal(t, group.MinFailureQuorum, minFailureQuorum)
}

// news is one thing that can be learned about a member: a statement against it,
// or, without a witness, that its endpoint record has this number.
type news struct {
	witness  byte
	sequence uint64
	raw      byte
}

// learnJoin is what acceptFailure and takeEndpoint do to the statements.
func (n news) learn(f *facts) {
	list := slices.Clone(f.failures())
	if n.witness > 0 {
		list = append(list, statement{ident.Member{n.witness}, n.sequence, string(rune(n.raw))})
	} else if f.mode == 0 || n.sequence > f.sequence {
		f.mode, f.sequence = uint8(certificate.Reachable), n.sequence
	}
	f.rarely().failures = join(f, list)
}

// merge is what two directories do that tell each other everything.
func merge(a, b *facts) *facts {
	c := &facts{mode: max(a.mode, b.mode), sequence: max(a.sequence, b.sequence)}
	c.rarely().failures = join(c, slices.Concat(a.failures(), b.failures()))
	return c
}

func learned(list []news) *facts {
	f := &facts{}
	for _, n := range list {
		n.learn(f)
	}
	return f
}

func seen(f *facts) string { return fmt.Sprint(f.mode, f.sequence, f.failures()) }

// someNews has many more witnesses than statements that are kept, with few
// numbers, so that ties and full lists are common.
var someNews = rapid.OneOf(rapid.SliceOfN(oneNews, 0, 10), rapid.SliceOfN(oneNews, 30, 90))

var oneNews = rapid.Custom(func(t *rapid.T) news {
	return news{
		witness:  byte(rapid.IntRange(0, 40).Draw(t, "witness")),
		sequence: rapid.Uint64Range(0, 5).Draw(t, "sequence"),
		raw:      rapid.ByteRange(0, 2).Draw(t, "raw"),
	}
})

// Whatever the order and however often: the same statements and records leave
// the same. (D-13)
func TestJoin_AnyDirectories_CommutesIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := someNews.Draw(t, "news")
		again := rapid.Permutation(slices.Concat(list, list)).Draw(t, "again")
		once := learned(list)
		require.Equal(t, seen(once), seen(learned(again)))
		require.Equal(t, seen(once), seen(merge(once, once)))
		require.LessOrEqual(t, len(once.failures()), MaxFailureQuorum)
	})
}

// Whoever talks to whom first: the merged directories know what one would that
// had learned everything itself. (D-13)
func TestJoin_AnyDirectories_Associative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, z := someNews.Draw(t, "x"), someNews.Draw(t, "y"), someNews.Draw(t, "z")
		a, b, c := learned(x), learned(y), learned(z)
		want := seen(learned(slices.Concat(z, x, y)))
		require.Equal(t, want, seen(merge(merge(a, b), c)))
		require.Equal(t, want, seen(merge(a, merge(b, c))))
		require.Equal(t, want, seen(merge(merge(c, a), merge(b, a))))
	})
}

// Of each witness the highest number stays, in the order of rank. (D-13)
func TestJoinOrder(t *testing.T) {
	list := []news{{witness: 3, sequence: 4}, {witness: 1, sequence: 4}, {witness: 2, sequence: 5}, {witness: 1, sequence: 2}, {witness: 4, sequence: 1}}
	witnesses := func(f *facts) (w []byte) {
		for _, s := range f.failures() {
			w = append(w, s.witness[0])
		}
		return w
	}
	assert.Equal(t, []byte{2, 1, 3, 4}, witnesses(learned(list)))
	list = append(list, news{sequence: 4}) // the record
	assert.Equal(t, []byte{2, 1, 3}, witnesses(learned(list)), "what is below its number is dropped")
}
