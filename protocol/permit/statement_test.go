package permit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

var session = permit.Session{Gate: [envelope.KeyIDSize]byte{8}, Exporter: [permit.ExporterSize]byte{9}, Number: 3}

// statement is what the holder of a permit signs, after a change.
func (b *bench) statement(hop int, change func(*permit.StatementBody)) permit.StatementBody {
	body := permit.StatementOf(b.steps[hop].title)
	body.Gate, body.Exporter, body.Number = session.Gate, session.Exporter, session.Number
	body.Configuration, body.Length = 1, 4000
	if change != nil {
		change(&body)
	}
	return body
}

// A holder's statement verifies with its permit, and for its own session only.
func TestStatement_OfTheHolder_Verifies(t *testing.T) {
	b := newBench()
	for hop := range b.steps {
		p := b.verified(t, hop)
		holder := b.List[0]
		for _, m := range b.List {
			if m.ID == p.Title().Holder() {
				holder = m
			}
		}
		s, err := b.statement(hop, nil).Sign(b.Group.ID(), holder.Key)
		require.NoError(t, err)
		got, err := p.Statement(s.Raw(), session)
		require.NoError(t, err)
		assert.Equal(t, s.Body(), got.Body())
		assert.EqualValues(t, 4000, got.Body().Length)
	}
}

// Each thing that can be wrong with a statement has its error: it cannot be relayed to another gate, connection or
// number, nor used with another permit.
func TestStatement_EachMistake_HasItsError(t *testing.T) {
	b := newBench()
	p := b.verified(t, 2) // cleo's
	for name, c := range map[string]struct {
		by     *audittest.Author
		change func(*permit.StatementBody)
		want   error
	}{
		"good":                   {b.cleo, nil, nil},
		"another gate":           {b.cleo, func(s *permit.StatementBody) { s.Gate[0]++ }, permit.ErrGate},
		"another connection":     {b.cleo, func(s *permit.StatementBody) { s.Exporter[31]++ }, permit.ErrExporter},
		"used before":            {b.cleo, func(s *permit.StatementBody) { s.Number-- }, permit.ErrNumber},
		"a number ahead":         {b.cleo, func(s *permit.StatementBody) { s.Number++ }, permit.ErrNumber},
		"another resource":       {b.cleo, func(s *permit.StatementBody) { s.Resource = "disk" }, permit.ErrTitle},
		"another slot":           {b.cleo, func(s *permit.StatementBody) { s.Slot++ }, permit.ErrTitle},
		"another token":          {b.cleo, func(s *permit.StatementBody) { s.Token[0]++ }, permit.ErrTitle},
		"another hop":            {b.cleo, func(s *permit.StatementBody) { s.Hop++ }, permit.ErrTitle},
		"another transfer":       {b.cleo, func(s *permit.StatementBody) { s.Title[0]++ }, permit.ErrTitle},
		"somebody else's":        {b.dan, func(s *permit.StatementBody) { s.Holder = b.dan.ID }, token.ErrUnknownSigner},
		"in the holder's name":   {b.dan, nil, permit.ErrSignature},
		"the holder of that hop": {b.ben, func(s *permit.StatementBody) { *s = b.statement(1, nil) }, permit.ErrPresenter},
		"no resource":            {nil, func(s *permit.StatementBody) { s.Resource = "" }, permit.ErrStatement},
		"a long resource":        {nil, func(s *permit.StatementBody) { s.Resource = string(make([]byte, token.MaxResourceName+1)) }, permit.ErrStatement},
		"a hop beyond all":       {nil, func(s *permit.StatementBody) { s.Hop = 1<<48 + 1 }, permit.ErrStatement},
		"no number":              {nil, func(s *permit.StatementBody) { s.Number = 0 }, permit.ErrStatement},
		"no configuration":       {nil, func(s *permit.StatementBody) { s.Configuration = 0 }, permit.ErrStatement},
		"no length":              {nil, func(s *permit.StatementBody) { s.Length = 0 }, permit.ErrStatement},
	} {
		t.Run(name, func(t *testing.T) {
			body := b.statement(2, c.change)
			if c.by == nil { // nobody signs it, and nobody reads it
				_, err := body.Sign(b.Group.ID(), b.cleo.Key)
				require.ErrorIs(t, err, c.want)
				raw := b.sealed(t, &body)
				_, err = p.Statement(raw, session)
				require.ErrorIs(t, err, c.want)
				return
			}
			s, err := body.Sign(b.Group.ID(), c.by.Key)
			require.NoError(t, err)
			got, err := p.Statement(s.Raw(), session)
			require.ErrorIs(t, err, c.want)
			assert.Equal(t, c.want != nil, got.IsZero())
		})
	}
}

// sealed is a statement that no honest member signs, by cleo.
func (b *bench) sealed(t *testing.T, body *permit.StatementBody) []byte {
	payload, err := canonical.Marshal(body)
	require.NoError(t, err)
	form, err := envelope.Sign(envelope.Domain{Version: token.Version, Group: b.Group.ID(), Kind: envelope.Statement}, b.cleo.ID, payload, b.cleo.Key)
	require.NoError(t, err)
	return form.Raw()
}

// No other kind of object passes for a statement, and a statement passes for no other kind.
func TestStatement_OtherKinds_AreNone(t *testing.T) {
	b := newBench()
	p := b.verified(t, 2)
	body := b.statement(2, nil)
	payload, err := canonical.Marshal(&body)
	require.NoError(t, err)
	for k := envelope.Certificate; k < envelope.Statement; k++ {
		form, err := envelope.Sign(envelope.Domain{Version: token.Version, Group: b.Group.ID(), Kind: k}, b.cleo.ID, payload, b.cleo.Key)
		require.NoError(t, err)
		_, err = p.Statement(form.Raw(), session)
		assert.ErrorIs(t, err, permit.ErrSignature, "a %v", k)
	}
	_, err = p.Statement(b.steps[2].title.Transfer.Raw(), session)
	assert.ErrorIs(t, err, permit.ErrStatement)
	s, err := body.Sign(b.Group.ID(), b.cleo.Key)
	require.NoError(t, err)
	for k := envelope.Certificate; k < envelope.Statement; k++ {
		u, err := envelope.Parse(envelope.Domain{Version: token.Version, Group: b.Group.ID(), Kind: k}, s.Raw())
		require.NoError(t, err)
		_, err = u.Verify(b.cleo.Key.Public())
		assert.Error(t, err, "a %v", k)
	}
}
