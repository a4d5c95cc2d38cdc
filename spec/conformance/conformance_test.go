package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The project's own member, over real QUIC, passes every check.
func TestNodeConforms(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	n := openNode(t, a, revoked.Certificate.Member())
	o := a.options(t, n.Address(), revoked)
	for _, c := range Checks() {
		if c.Name != "late-preamble" && c.Name != "orderly-end" {
			o.Only = append(o.Only, c.Name)
		}
	}
	report, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, report.Results, len(o.Only))
	for _, r := range report.Results {
		assert.Equal(t, Pass, r.Verdict, "%s: %s", r.Name, r.Detail)
		t.Log(r.Name, r.Took, r.Verdict, r.Detail)
	}
	assert.Zero(t, report.Left, "tokens that did not come back, of %d", report.Made)
}
