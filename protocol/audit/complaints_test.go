package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

var (
	oneToken   = ident.Token{1}
	otherToken = ident.Token{2}
)

// kindsOf are the kinds of findings, in their order.
func kindsOf(list []audit.Finding) (kinds []audit.Kind) {
	for _, f := range list {
		kinds = append(kinds, f.Kind)
	}
	return kinds
}

// TestComplaints_OneMemberStruckByMany_OneFinding: it names the member first, then all that have struck it, and
// proves nothing.
func TestComplaints_OneMemberStruckByMany_OneFinding(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo", "mallory")
	a, b, c, bad := w.List[0], w.List[1], w.List[2], w.List[3]
	first := w.Now.Add(w.Step)
	a.Complain(bad, oneToken, policy.Struck, policy.Kept)
	b.Complain(bad, oneToken, policy.Struck, policy.Denied)
	c.Complain(bad, otherToken, policy.Barred, policy.Excused)
	a.Complain(bad, otherToken, policy.Struck, policy.Kept)
	last := w.Now
	r := w.Report(audit.Options{})
	require.Len(t, r.Findings, 1)
	f := r.Findings[0]
	assert.Equal(t, audit.Struck, f.Kind)
	assert.False(t, f.Proved())
	assert.Equal(t, bad.ID, f.Members[0])
	assert.ElementsMatch(t, []ident.Member{a.ID, b.ID}, f.Members[1:])
	assert.Equal(t, 2, f.Again)
	assert.Len(t, f.Records, 2)
	assert.Zero(t, f.Token, "the overlap of programs does not depend on it")
	assert.Equal(t, uint64(first.UnixMicro()), f.At)
	assert.Contains(t, f.Detail, "kept a token 2, denied a token 1")

	require.Len(t, r.Complaints, 1)
	all := r.Complaints[0]
	assert.Equal(t, bad.ID, all.About)
	assert.Equal(t, 4, all.Count)
	assert.ElementsMatch(t, []ident.Member{a.ID, b.ID, c.ID}, all.By)
	assert.ElementsMatch(t, []ident.Member{a.ID, b.ID}, all.Struck)
	assert.Equal(t, map[policy.Measure]int{policy.Struck: 3, policy.Barred: 1}, all.Measures)
	assert.Equal(t, map[policy.Cause]int{policy.Kept: 2, policy.Denied: 1, policy.Excused: 1}, all.Causes)
	assert.Equal(t, []string{audittest.Resource}, all.Resources)
	assert.ElementsMatch(t, []ident.Token{oneToken, otherToken}, all.Tokens)
	assert.Equal(t, []uint64{uint64(first.UnixMicro()), uint64(last.UnixMicro())}, []uint64{all.First, all.Last})
}

// TestComplaints_LesserMeasures_NoFinding: a machine that crashes twice, sleeps or has a wrong clock gets them, too.
func TestComplaints_LesserMeasures_NoFinding(t *testing.T) {
	w := audittest.New("ann", "ben")
	for _, m := range policy.Measures() {
		if m != policy.Struck {
			w.List[0].Complain(w.List[1], oneToken, m, policy.Kept)
		}
	}
	r := w.Report(audit.Options{})
	assert.Empty(t, r.Findings)
	require.Len(t, r.Complaints, 1)
	assert.Equal(t, 3, r.Complaints[0].Count)
	assert.Empty(t, r.Complaints[0].Struck)
}

// TestComplaints_ThatHoldNothing_HarmNobody: one that is forged, is about its signer, or is of somebody who is no member.
func TestComplaints_ThatHoldNothing_HarmNobody(t *testing.T) {
	for _, test := range []struct {
		name        string
		tell        func(w *audittest.World, ann, ben *audittest.Author)
		kinds       []audit.Kind
		disregarded int
	}{
		{"forged", func(_ *audittest.World, ann, ben *audittest.Author) {
			ann.Write(&journal.Complained{Complaint: forged(ann.Accuse(ben, oneToken, policy.Struck, policy.Kept).Raw())})
		}, []audit.Kind{audit.Forged}, 0},
		{"in another's name", func(_ *audittest.World, ann, ben *audittest.Author) {
			raw := ann.Accuse(ben, oneToken, policy.Struck, policy.Kept).Raw()
			copy(raw[8:], ben.ID[:]) // the key id
			ann.Write(&journal.Complained{Complaint: raw})
		}, []audit.Kind{audit.Misfit}, 0},
		{"nothing", func(_ *audittest.World, ann, _ *audittest.Author) {
			ann.Write(&journal.Complained{})
		}, []audit.Kind{audit.Misfit}, 0},
		{"another object", func(w *audittest.World, ann, ben *audittest.Author) {
			ann.Write(&journal.Complained{Complaint: ann.Sign(token.Title{Genesis: ann.Genesis(9, 0, audittest.Resource)}, ben).Raw()})
		}, []audit.Kind{audit.Misfit}, 0},
		{"about its signer", func(w *audittest.World, ann, ben *audittest.Author) {
			b := ann.Accuse(ben, oneToken, policy.Struck, policy.Kept).Body()
			b.Accused = ann.ID
			payload, err := canonical.Marshal(b)
			require.NoError(t, err)
			e, err := envelope.Sign(envelope.Domain{Version: token.Version, Group: w.Group.ID(), Kind: envelope.Complaint}, ann.ID, payload, ann.Key)
			require.NoError(t, err)
			ann.Write(&journal.Complained{Complaint: e.Raw()})
		}, []audit.Kind{audit.Misfit}, 0},
		{"of one that is revoked, from before that", func(w *audittest.World, ann, ben *audittest.Author) {
			ann.Complain(ben, oneToken, policy.Struck, policy.Kept)
			w.Now = w.Now.Add(time.Hour)
			r, err := certificate.Revocation{Version: 1, Member: ann.ID, Time: w.Millis()}.Sign(w.Group.ID(), w.CA)
			require.NoError(t, err)
			ben.Know(journal.KnownRevocation, r.Raw())
		}, nil, 1},
		{"of one that was revoked", func(w *audittest.World, ann, ben *audittest.Author) {
			r, err := certificate.Revocation{Version: 1, Member: ann.ID, Time: w.Millis()}.Sign(w.Group.ID(), w.CA)
			require.NoError(t, err)
			ben.Know(journal.KnownRevocation, r.Raw())
			w.Now = w.Now.Add(time.Hour)
			ann.Complain(ben, oneToken, policy.Struck, policy.Kept)
		}, []audit.Kind{audit.Revoked}, 1},
		{"of one that has left", func(w *audittest.World, ann, ben *audittest.Author) {
			l, err := certificate.Leave{Member: ann.ID, Time: w.Millis()}.Sign(w.Group.ID(), ann.Key)
			require.NoError(t, err)
			ben.Know(journal.KnownLeave, l.Raw())
			w.Now = w.Now.Add(time.Hour)
			ann.Complain(ben, oneToken, policy.Struck, policy.Kept)
		}, []audit.Kind{audit.Departed}, 1},
		{"when the certificate was over", func(w *audittest.World, ann, ben *audittest.Author) {
			w.Now = w.Now.AddDate(1, 0, 0)
			ann.Complain(ben, oneToken, policy.Struck, policy.Kept)
		}, []audit.Kind{audit.Invalid}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := audittest.New("ann", "ben")
			test.tell(w, w.List[0], w.List[1])
			r := w.Report(audit.Options{})
			assert.Equal(t, test.kinds, kindsOf(r.Findings))
			assert.Empty(t, r.Complaints)
			assert.Equal(t, test.disregarded, r.Disregarded)
		})
	}
}

// TestComplaints_OfAStranger_Unverified: nobody has its certificate.
func TestComplaints_OfAStranger_Unverified(t *testing.T) {
	w, other := audittest.New("ann", "ben"), audittest.New("x", "y", "zoe")
	zoe := *other.List[2]
	zoe.World = w
	zoe.ID = ident.MemberOf(w.Group.ID(), func() []byte { k := zoe.Key.Public().Bytes(); return k[:] }())
	w.List[0].Write(&journal.Complained{Complaint: zoe.Accuse(w.List[1], oneToken, policy.Struck, policy.Kept).Raw()})
	r := w.Report(audit.Options{})
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.Complaints)
	assert.Equal(t, map[ident.Member]int{zoe.ID: 1}, r.Unverified)
}

// TestComplaints_InSeveralJournals_CountOnce: and who has another's in its journal has not written that itself.
func TestComplaints_InSeveralJournals_CountOnce(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	raw := w.List[0].Accuse(w.List[1], oneToken, policy.Barred, policy.Kept).Raw()
	for range 2 {
		w.List[0].Write(&journal.Complained{Complaint: raw})
	}
	w.List[2].Write(&journal.Complained{Complaint: raw})
	r := w.Report(audit.Options{})
	require.Len(t, r.Complaints, 1)
	assert.Equal(t, 1, r.Complaints[0].Count)
	assert.Empty(t, r.Findings)

	w.List[2].Write(&journal.Complained{Complaint: w.List[0].Accuse(w.List[1], otherToken, policy.Barred, policy.Kept).Raw()})
	r = w.Report(audit.Options{})
	assert.Equal(t, 2, r.Complaints[0].Count)
	require.Equal(t, []audit.Kind{audit.Misfit}, kindsOf(r.Findings))
	assert.Equal(t, []ident.Member{w.List[2].ID}, r.Findings[0].Members)
}

// TestComplaints_OfOtherTimesAndResources_LeftOut: as all else that was not asked for.
func TestComplaints_OfOtherTimesAndResources_LeftOut(t *testing.T) {
	w := audittest.New("ann", "ben")
	w.List[0].Complain(w.List[1], oneToken, policy.Struck, policy.Kept)
	at := uint64(w.Now.UnixMicro())
	for _, test := range []struct {
		name string
		o    audit.Options
		want int
	}{
		{"all", audit.Options{}, 1},
		{"its time", audit.Options{From: at, To: at + 1}, 1},
		{"before", audit.Options{To: at}, 0},
		{"after", audit.Options{From: at + 1}, 0},
		{"its resource", audit.Options{Resource: audittest.Resource}, 1},
		{"another resource", audit.Options{Resource: "other"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := w.Report(test.o)
			assert.Len(t, r.Complaints, test.want)
			assert.Len(t, r.Findings, test.want)
		})
	}
}

// TestComplaints_ManyMade_Bounded: whoever writes complaints about members that there are not fills no memory.
func TestComplaints_ManyMade_Bounded(t *testing.T) {
	w := audittest.New("ann", "ben")
	w.Step = time.Millisecond
	const more = 5
	for n := range 1000 + more {
		about := &audittest.Author{ID: ident.Member{1, byte(n), byte(n >> 8)}}
		w.List[0].Complain(about, oneToken, policy.Struck, policy.Kept)
	}
	for n := range 100 {
		w.List[0].Complain(&audittest.Author{ID: ident.Member{1}}, ident.Token{byte(n)}, policy.Struck, policy.Kept)
	}
	r := w.Report(audit.Options{})
	require.Len(t, r.Complaints, 1000)
	assert.Equal(t, more, r.Disregarded)
	assert.Equal(t, 1000, r.Count(audit.Struck))
	for _, c := range r.Complaints {
		assert.LessOrEqual(t, len(c.Tokens), 8)
		if c.About == (ident.Member{1}) {
			assert.Equal(t, 101, c.Count)
		}
	}
}

// TestComplaints_AnyOrder_AddUp: each complaint is in one sum, whoever complains about whom.
func TestComplaints_AnyOrder_AddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := audittest.New("ann", "ben", "cleo", "dora")
		strikes := make(map[ident.Member]map[ident.Member]bool)
		n := rapid.IntRange(0, 12).Draw(t, "complaints")
		for i := range n {
			by := rapid.IntRange(0, 3).Draw(t, "by")
			about := (by + rapid.IntRange(1, 3).Draw(t, "about")) % 4
			measure := rapid.SampledFrom(policy.Measures()).Draw(t, "measure")
			w.List[by].Complain(w.List[about], ident.Token{byte(i)}, measure, rapid.SampledFrom(policy.Causes()).Draw(t, "cause"))
			if measure == policy.Struck {
				if strikes[w.List[about].ID] == nil {
					strikes[w.List[about].ID] = make(map[ident.Member]bool)
				}
				strikes[w.List[about].ID][w.List[by].ID] = true
			}
		}
		r := w.Report(audit.Options{})
		sum := 0
		for _, c := range r.Complaints {
			measures, causes := 0, 0
			for _, k := range c.Measures {
				measures += k
			}
			for _, k := range c.Causes {
				causes += k
			}
			assert.Equal(t, []int{c.Count, c.Count}, []int{measures, causes})
			sum += c.Count
		}
		assert.Equal(t, n, sum)
		assert.Len(t, r.Findings, len(strikes))
		for _, f := range r.Findings {
			assert.Len(t, f.Members, 1+len(strikes[f.Members[0]]), fmt.Sprint(f))
		}
	})
}
