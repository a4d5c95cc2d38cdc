package spec_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/enrolment"
)

// The reasons, paths and numbers in enrolment.md are those of the code.
func TestEnrolmentText(t *testing.T) {
	raw, err := os.ReadFile("enrolment.md")
	require.NoError(t, err)
	text := string(raw)
	for r := enrolment.Refused; r <= enrolment.Failed; r++ {
		assert.Contains(t, text, fmt.Sprintf("\n| %d | %d | ", r, r.Status()), r.Err())
	}
	assert.NotContains(t, text, fmt.Sprintf("\n| %d | ", enrolment.Failed+1))
	for _, path := range []string{enrolment.PathEnrol, enrolment.PathRenew, enrolment.PathSync, enrolment.PathLeave, enrolment.PathEvidence} {
		assert.Contains(t, text, "\n| `"+path+"` | ")
	}
	for _, number := range []int{enrolment.MaxEnrolRequest, enrolment.MaxRequest, enrolment.MaxEvidenceRequest, enrolment.MaxAnswer} {
		assert.Contains(t, text, fmt.Sprintf(" %d", number))
	}
	assert.Contains(t, text, enrolment.AuthoritiesOID.String())
	sum := sha256.Sum256([]byte("wander authorities"))
	assert.EqualValues(t, binary.BigEndian.Uint32(sum[:])&^(1<<31), enrolment.AuthoritiesOID[2])
	assert.Equal(t, []time.Duration{2 * time.Hour, 48 * time.Hour}, []time.Duration{enrolment.ServiceBackdate, enrolment.ServiceLifetime})
}
