package evidence_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// walk signs what honest members sign of some tokens that pass between them, with
// voids, receipts and unknowns as they come.
func walk(t *rapid.T) []evidence.Object {
	parties := []party{ada, ben, cleo, dan}
	find := func(m ident.Member) party {
		return parties[slices.IndexFunc(parties, func(p party) bool { return p.id == m })]
	}
	var list []evidence.Object
	for sequence := range uint64(rapid.IntRange(1, 2).Draw(t, "tokens")) {
		maker := rapid.SampledFrom(parties).Draw(t, "maker")
		title := token.Title{Genesis: genesis(t, maker, sequence, byte(sequence))}
		list = append(list, aGenesis(title.Genesis))
		for range rapid.IntRange(0, 6).Draw(t, "hops") {
			from := find(title.Holder())
			to := rapid.SampledFrom(parties).Filter(func(p party) bool { return p.id != from.id }).Draw(t, "to")
			next := pass(t, title, from, to)
			list = append(list, aTransfer(next))
			if rapid.Bool().Draw(t, "unknown") {
				list = append(list, anAnswer(answer(t, token.Unknown, next, to)))
			}
			title = token.Title{Genesis: title.Genesis, Transfer: next}
			verdict := token.Receipt
			if rapid.Bool().Draw(t, "declined") {
				verdict = token.Void
			}
			said := answer(t, verdict, next, to)
			list = append(list, anAnswer(said))
			if verdict == token.Void {
				title.Void = said
			}
		}
	}
	return list
}

// Whatever honest members sign, no two objects of it are evidence.
func TestOf_HonestMembers_None(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := walk(t)
		for i, a := range list {
			for _, b := range list[i:] {
				_, _, ok := evidence.Of(groupID, a, b)
				require.False(t, ok, "%v %v", a.Kind, b.Kind)
			}
		}
	})
}

// With any bit flipped evidence is no evidence any more, and nothing panics.
func TestVerify_AnyBitFlipped_Refused(t *testing.T) {
	var all [][]byte
	for _, c := range crimes(t) {
		raw, err := c.evidence(t).Encode()
		require.NoError(t, err)
		all = append(all, raw)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := slices.Clone(rapid.SampledFrom(all).Draw(t, "evidence"))
		bit := rapid.IntRange(0, 8*len(raw)-1).Draw(t, "bit")
		raw[bit/8] ^= 1 << (bit % 8)
		e, err := evidence.Parse(raw)
		if err != nil {
			return
		}
		_, err = e.Verify(groupID)
		require.Error(t, err)
	})
}

// A witness that is shown everything of honest members and, anywhere among it and
// once more, the first half of a crime finds the crime with the second half, and
// nothing else.
func TestWitness(t *testing.T) {
	each(t, func(t *testing.T, c crime) {
		if c.kind == evidence.Misfit || c.kind.AgainstGate() {
			t.Skip("a transfer and what it names come together; answers of gates are the audit's")
		}
		rapid.Check(t, func(t *rapid.T) {
			w := detector{evidence.NewConflictDetector(groupID, evidence.Kept)}
			first, second := c.a, c.b
			if rapid.Bool().Draw(t, "turned") {
				first, second = second, first
			}
			crowd := walk(t)
			before := rapid.IntRange(0, len(crowd)).Draw(t, "before")
			for _, o := range slices.Concat(crowd[:before], []evidence.Object{first, first}, crowd[before:]) {
				_, found := w.show(t, o)
				require.False(t, found)
			}
			other, found := w.show(t, second)
			require.True(t, found)
			require.Equal(t, first.Raw, other.Raw)
		})
	})
}

func TestConflictDetector_HonestMembers_NothingFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := detector{evidence.NewConflictDetector(groupID, rapid.IntRange(2, 50).Draw(t, "kept"))}
		list := walk(t)
		for range 30 {
			_, found := w.show(t, rapid.SampledFrom(list).Draw(t, "object"))
			require.False(t, found)
		}
	})
}

// What has been recalled from a journal counts like what was shown.
func TestConflictDetector_Recall_Found(t *testing.T) {
	c := forkOf(t)
	w := detector{evidence.NewConflictDetector(groupID, evidence.Kept)}
	w.Recall(evidence.Object{Kind: c.a.Kind, Raw: []byte{1}})
	w.Recall(c.a)
	_, found := w.show(t, c.b)
	assert.True(t, found)
}

// A witness forgets the oldest, and never keeps more than it may.
func TestConflictDetector_Full_Forgets(t *testing.T) {
	c := forkOf(t)
	w := detector{evidence.NewConflictDetector(groupID, 8)}
	w.show(t, c.a)
	for n := range byte(8) {
		w.show(t, aGenesis(genesis(t, ada, 100+uint64(n), n)))
	}
	_, found := w.show(t, c.b)
	assert.False(t, found)
}

// witness takes objects for what they are.
type detector struct{ *evidence.ConflictDetector }

// everybody has the keys of all parties.
type everybody struct{}

func (everybody) Key(m ident.Member) *signature.PublicKey {
	for _, p := range []party{ada, ben, cleo, dan} {
		if p.id == m {
			return p.key.Public()
		}
	}
	return nil
}

func (w detector) show(t require.TestingT, o evidence.Object) (evidence.Object, bool) {
	v := token.NewVerifier(groupID, everybody{})
	switch o.Kind.String() {
	case "genesis":
		g, err := v.Genesis(o.Raw)
		require.NoError(t, err)
		_, other, found := w.Genesis(g)
		return other, found
	case "transfer":
		tr, err := v.Transfer(o.Raw)
		require.NoError(t, err)
		_, other, found := w.Transfer(tr)
		return other, found
	}
	verdicts := map[string]token.Verdict{"receipt": token.Receipt, "void": token.Void, "unknown": token.Unknown}
	a, err := v.Answer(verdicts[o.Kind.String()], o.Raw)
	require.NoError(t, err, fmt.Sprint(o.Kind))
	_, other, found := w.Answer(a)
	return other, found
}
