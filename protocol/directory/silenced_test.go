package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/directory"
)

// The key of a member that has left is dead: nobody fails by its word, be that said
// before or after. Somebody may have bought the machine.
func TestWitnesses_Left_None(t *testing.T) {
	ca := newAuthority(1)
	ann, ben, cat := ca.member(0), ca.member(1), ca.member(2)
	d := directory.New(ca, ca.member(9).id)
	introduce(t, d, ann, ben, cat)
	for _, w := range []someone{ann, ben} {
		_, err := d.LearnFailure(w.failure(cat, 1))
		require.NoError(t, err)
	}
	require.True(t, d.Failed(cat.id))
	_, err := d.LearnLeave(ben.leave(1))
	require.NoError(t, err)
	assert.False(t, d.Failed(cat.id))
	assert.Len(t, d.Failures(cat.id), 1)

	_, err = d.LearnEndpoint(cat.endpoint(2, "cat.example.org:1"))
	require.NoError(t, err)
	for _, w := range []someone{ann, ben} {
		_, err := d.LearnFailure(w.failure(cat, 2))
		require.NoError(t, err)
	}
	assert.False(t, d.Failed(cat.id))
}
