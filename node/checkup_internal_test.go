package node

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/protocol/directory"
)

// The checkup counts members by the words that wander members shows.
func TestCheckup_FailedMember_SameWord(t *testing.T) {
	assert.Equal(t, doctor.HasFailed, stateOf(directory.ErrFailed))
}
