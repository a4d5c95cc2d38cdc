package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// A node whose process did not run tells its member, its log and whoever asks.
func TestNode_Late_SaysSo(t *testing.T) {
	n, book := openNode(t, newAuthority(t, quick).issue(t, "late"), nil)
	var st api.Status
	await.Until(t, "the member knows", func() bool {
		n.LookAtPulse(10 * time.Second) // again and again: this machine may be late, too
		st = n.Status()
		return st.Membership.Patience == 8
	})
	assert.Equal(t, 3.5, st.Membership.LateS)
	assert.Contains(t, st.Warnings, api.Warning{Cause: explain.Late, Sentence: "this member runs at least 3.5s late: its processor is overloaded, or it was stopped; " +
		"it waits 8 times as long before it suspects other members"})
	assert.Contains(t, book.String(), "this member runs late")
}
