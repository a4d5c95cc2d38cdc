package audit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// holding is a token and where it is.
type holding struct {
	title token.Title
	by    *audittest.Author
}

// tellAnything lets honest members do what they like.
func tellAnything(t *rapid.T, w *audittest.World) {
	var tokens []holding
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		by := w.List[rapid.IntRange(0, len(w.List)-1).Draw(t, "member")]
		if len(tokens) == 0 || rapid.IntRange(0, 5).Draw(t, "make") == 0 {
			tokens = append(tokens, holding{by.Generate(), by})
			continue
		}
		i := rapid.IntRange(0, len(tokens)-1).Draw(t, "token")
		h := tokens[i]
		if by == h.by {
			by.Operate(h.title, byte(len(by.Frames)), 1)
			continue
		}
		switch rapid.IntRange(0, 4).Draw(t, "act") {
		case 0:
			h.by.Write(&journal.Dropped{Token: h.title.Token(), Hop: h.title.Hop(), Reason: 1})
			tokens = slices.Delete(tokens, i, i+1)
		case 1:
			tr := h.by.Send(h.title, by)
			tokens[i].title = h.by.Reclaim(h.title, tr, by.Decline(tr))
		case 2:
			h.by.Send(h.title, by) // and it stays on its way
			tokens = slices.Delete(tokens, i, i+1)
		default:
			tokens[i] = holding{h.by.Hand(h.title, by), by}
		}
	}
}

// Whatever is missing of the journals of honest members, whole ones and single
// records, and in whatever order they are read: nobody is ever convicted. With
// everything at hand there is no finding at all.
func TestHonestMembers_AnyRun_NeverConvicted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := audittest.New("ann", "ben", "cleo")
		tellAnything(t, w)
		whole := w.Report(audit.Options{})
		assert.Empty(t, whole.Findings)
		var some []*audittest.Author
		for _, i := range rapid.Permutation([]int{0, 1, 2}).Draw(t, "members")[:rapid.IntRange(1, 3).Draw(t, "journals")] {
			some = append(some, w.List[i])
		}
		for _, m := range some {
			m.Frames = slices.DeleteFunc(m.Frames, func(journal.Frame) bool { return rapid.IntRange(0, 3).Draw(t, "missing") == 0 })
		}
		for _, f := range w.Report(audit.Options{}, some...).Findings {
			assert.False(t, f.Proved(), "%v", f)
		}
	})
}

// A beginning or an end that is missing of a journal makes nobody suspicious
// either.
func TestShortJournals_HonestMembers_NobodyAccused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := audittest.New("ann", "ben", "cleo")
		tellAnything(t, w)
		for _, m := range w.List {
			keep := len(m.Preamble())
			m.Frames = m.Frames[:rapid.IntRange(keep, len(m.Frames)).Draw(t, "end")]
		}
		assert.Empty(t, w.Report(audit.Options{}).Findings)
	})
}

// Both ways of verifying agree on journals of which some bytes were changed.
func TestVerify_BatchAndOneByOne_Agree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := audittest.New("ann", "ben")
		tellAnything(t, w)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			m := w.List[rapid.IntRange(0, 1).Draw(t, "whose")]
			body := m.Frames[rapid.IntRange(0, len(m.Frames)-1).Draw(t, "record")].Body
			if at := len(body) - 1 - rapid.IntRange(0, 2*signature.SignatureSize).Draw(t, "byte"); at > 0 {
				body[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		}
		together, alone := w.Report(audit.Options{}), w.Report(audit.Options{OneByOne: true})
		assert.Equal(t, alone.Findings, together.Findings)
		assert.Equal(t, alone.Unverified, together.Unverified)
	})
}
