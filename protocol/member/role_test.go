package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/member"
)

// A gate's certificate makes no member, whatever it is for.
func TestNew_CertificateOfAGate_Refused(t *testing.T) {
	a := newAuthority(t)
	b := a.open(a.issue(1, time.Hour), nil)
	claims := b.cfg.Certificate.Body()
	claims.Role = certificate.GateRole
	gate, err := claims.Sign(a.key)
	require.NoError(t, err)
	cfg := b.cfg
	cfg.Certificate = gate
	_, _, err = member.New(cfg, b.now)
	assert.ErrorIs(t, err, certificate.ErrRole)
	_, _, err = member.Restore(cfg, b.journal, b.now)
	assert.ErrorIs(t, err, certificate.ErrRole)
}
