package ca

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

func TestList(t *testing.T) {
	a, d := fresh(t)
	first, second := issue(t, a, "a", 2), issue(t, a, "b", 3)
	_, err := a.Revoke(first.Member(), "gone")
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	require.Len(t, l.Records, 2)
	assert.Equal(t, "a", l.Records[0].Name)
	assert.Equal(t, first.Member(), l.Records[0].Member)
	assert.Equal(t, "gone", l.Records[0].Revoked.Reason)
	assert.Equal(t, second.Body().NotAfter, l.Records[1].NotAfter)
	assert.Nil(t, l.Records[1].Revoked)
	assert.Equal(t, uint64(1), l.RevocationVersion)
	assert.Equal(t, first.Member(), l.Revoked[0].Member)
	assert.Equal(t, uint64(1), l.Config.Version())

	again, err := reopen(t, d).List()
	require.NoError(t, err)
	assert.Equal(t, l, again)
}

func TestFind(t *testing.T) {
	a, _ := fresh(t)
	cert := issue(t, a, "a", 2)
	for _, target := range []string{"a", cert.Member().String()} {
		m, err := a.Find(target)
		require.NoError(t, err)
		assert.Equal(t, cert.Member(), m)
	}
	m, err := a.FindSerial(1)
	require.NoError(t, err)
	assert.Equal(t, cert.Member(), m)
	_, err = a.Revoke(m, "")
	require.NoError(t, err)
	m, err = a.Find("a")
	require.NoError(t, err, "the dead are found too")
	assert.Equal(t, cert.Member(), m)

	for _, target := range []string{"b", "", "abcd"} {
		_, err = a.Find(target)
		assert.ErrorIs(t, err, ErrUnknown)
	}
	_, err = a.FindSerial(2)
	assert.ErrorIs(t, err, ErrUnknown)
}

func TestFind_Ambiguous_Refused(t *testing.T) {
	s := newState()
	s.byName["a"] = []int{0, 1}
	s.records = []Record{{Member: ident.Member{1}, NotAfter: day.Add(time.Hour)}, {Member: ident.Member{2}, NotAfter: day.Add(time.Hour)}}
	_, err := s.find("a", day)
	assert.ErrorIs(t, err, ErrAmbiguous)
	assert.ErrorContains(t, err, ident.Member{2}.String())
}
