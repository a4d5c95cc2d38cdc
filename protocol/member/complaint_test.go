package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// oneKey is the key of everybody.
type oneKey struct{ *signature.PublicKey }

func (k oneKey) Key(ident.Member) *signature.PublicKey { return k.PublicKey }

// complain has the policy do so many times, and returns what the member writes down.
func (j *judge) complain(a policy.Action, times int) (list []effect.Persist) {
	for range times {
		j.puppet.next = append(j.puppet.next, a)
	}
	j.step(member.Demand{Request: uint64(len(j.puppet.events)) + 100, Resource: resource})
	for _, e := range j.effects {
		if p, ok := e.(effect.Persist); ok && p.Record.Kind() == journal.KindComplained {
			list = append(list, p)
		}
	}
	j.step(member.Withdraw{Request: uint64(len(j.puppet.events)) + 99})
	return list
}

// TestComplain_Policy_SignedRecord: P-82. The record says all that the policy did, and waits for no disk.
func TestComplain_Policy_SignedRecord(t *testing.T) {
	j, others := newJudge(t, 1, false)
	about := others[0].id()
	list := j.complain(policy.Action{
		Kind: policy.Complain, To: about, Token: ident.Token{5}, Hop: 7, Measure: policy.Barred, Cause: policy.Excused,
	}, 1)
	require.Len(t, list, 1)
	assert.False(t, list[0].Sync)
	c, err := token.NewVerifier(others[0].group, oneKey{keyOf(t, 1).Public()}).Complaint(list[0].Record.(*journal.Complained).Complaint)
	require.NoError(t, err)
	assert.Equal(t, token.ComplaintBody{
		Resource: resource, Signer: j.ID(), Accused: about, Token: ident.Token{5}, Hop: 7, Measure: uint64(policy.Barred),
		Cause: uint64(policy.Excused), Time: list[0].At / 1000,
	}, c.Body())
	j.restart() // nothing comes of the record
	assert.False(t, j.Shunned(about))
}

// TestComplain_AboutNobodyOrItself_NotWritten: no policy does so.
func TestComplain_AboutNobodyOrItself_NotWritten(t *testing.T) {
	j, _ := newJudge(t, 0, false)
	for _, about := range []ident.Member{{}, j.ID()} {
		assert.Empty(t, j.complain(policy.Action{Kind: policy.Complain, To: about, Measure: policy.Struck, Cause: policy.Kept}, 1))
	}
}

// TestComplain_Many_Bounded: as many as there are back-offs at once, and one a minute.
func TestComplain_Many_Bounded(t *testing.T) {
	j, others := newJudge(t, 1, false)
	a := policy.Action{Kind: policy.Complain, To: others[0].id(), Measure: policy.Struck, Cause: policy.Kept}
	assert.Len(t, j.complain(a, 100), 64)
	assert.Empty(t, j.complain(a, 1))
	j.after(10 * time.Minute)
	assert.Len(t, j.complain(a, 100), 10)
}

// TestComplain_AllMeasuresAndCauses_HaveNumbers: those of package policy are those that may be signed.
func TestComplain_AllMeasuresAndCauses_HaveNumbers(t *testing.T) {
	assert.Len(t, policy.Measures(), token.MaxMeasure)
	assert.Len(t, policy.Causes(), token.MaxCause)
}
