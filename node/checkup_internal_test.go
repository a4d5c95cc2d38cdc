package node

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/directory"
)

// The checkup counts members by the words that wander members shows.
func TestCheckup_FailedMember_SameWord(t *testing.T) {
	assert.Equal(t, doctor.HasFailed, stateOf(directory.ErrFailed))
}

// If this machine forbids to send, doctor does not blame the peer.
func TestProbeAdvice_KernelForbids_OwnFirewall(t *testing.T) {
	forbidden := fmt.Errorf("%w: %w", transport.ErrLost, os.NewSyscallError("sendmsg", syscall.EPERM))
	assert.Contains(t, probeAdvice(forbidden), "this machine forbids the packet")
	assert.Contains(t, probeAdvice(transport.ErrUnresponsive), "its machine or daemon may be down")
}
