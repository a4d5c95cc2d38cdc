package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// TestReceipt_SignersOpening_Compared: P-75. A policy hears whether the process that has given a receipt still runs, and
// the serial of the custody.
func TestReceipt_SignersOpening_Compared(t *testing.T) {
	now := token.Position{Opening: 100, Tag: [token.TagSize]byte{1}, Serial: 7}
	before, other := now, now
	before.Opening, other.Tag = 99, [token.TagSize]byte{2}
	named := func(p token.Position) token.Position { p.Serial = 12; return p }
	for _, test := range []struct {
		name             string
		endpoint         *token.Position // of the signer's endpoint record, nil: none is known
		receipt          token.Position
		incarnation      ident.Incarnation
		current, process bool
		serial           uint64
	}{
		{"of this process", &now, named(now), ident.Incarnation{2}, true, true, 12},
		{"of the process before", &now, named(before), ident.Incarnation{2}, true, false, 12},
		{"of a copy", &now, named(other), ident.Incarnation{2}, true, false, 12},
		{"of another custody memory", &now, named(now), ident.Incarnation{9}, false, false, 12},
		{"without a position", &now, token.Position{}, ident.Incarnation{2}, true, true, policy.Unnamed},
		{"of a volatile member", &token.Position{}, token.Position{}, ident.Incarnation{2}, true, true, 0},
		{"of a member without an endpoint record", nil, named(now), ident.Incarnation{2}, true, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newAuthority(t)
			m, signer := a.marionette(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
			m.meet(signer)
			h := signer.hello()
			if test.endpoint != nil {
				e, err := certificate.Endpoint{
					Member: signer.id(), Sequence: 1, Mode: certificate.DialsOut, Extensions: test.endpoint.Extensions(),
				}.Sign(signer.group, signer.key)
				require.NoError(t, err)
				h.Endpoint = e.Raw()
			}
			m.hear(signer, h)
			receipt, err := token.AnswerBody{
				Token: ident.Token{5}, Hop: 3, Signer: signer.id(), Incarnation: test.incarnation, Extensions: test.receipt.Extensions(),
			}.Sign(signer.group, token.Receipt, signer.key)
			require.NoError(t, err)

			r, ok := m.puppet.Receipt(receipt.Raw())
			require.True(t, ok)
			assert.Equal(t, policy.Receipt{
				Token: ident.Token{5}, Hop: 3, Signer: signer.id(), Current: test.current, SameProcess: test.process, Serial: test.serial,
			}, r)
		})
	}
}
