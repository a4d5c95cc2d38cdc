package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// status and the metrics call a member isolated at the same time; only who has dialled nobody yet is not called so by status.
func TestLink_NobodyAnswers_IsolatedAsForRun(t *testing.T) {
	a := newAuthority(t, quick)
	n, _ := openNode(t, a.issue(t, "node"), nil)
	for name, c := range map[string]struct {
		heard, failed time.Duration
		want          bool
	}{
		"one peer is away, others were here lately": {5 * time.Second, time.Second, false},
		"nobody answers any more":                   {20 * time.Second, time.Second, true},
		"nobody was asked since":                    {20 * time.Second, 0, false},
		"nobody has ever answered":                  {0, time.Second, true},
		"nobody was ever asked":                     {0, 0, false},
	} {
		n.SetContacts(c.heard, c.failed)
		assert.Equal(t, c.want, n.Status().Link.Isolated, name)
	}
}
