package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// hidden is a member that only dials out, attached to three others, and one more
// whom it knows.
func hidden(t *testing.T) (b *box, attached []*someone, other *someone) {
	a := newAuthority(t)
	b = a.open(a.issue(1, 24*time.Hour), nil)
	b.step(member.Announce{})
	for n := byte(2); n <= 5; n++ {
		p := a.issue(n, 24*time.Hour)
		b.step(member.Learn{Certificates: [][]byte{p.certificate.Raw()}, Endpoints: [][]byte{p.endpoint(1)}})
		if n == 5 {
			b.after(10 * time.Second) // the first three are its attachments by now
			other = p
		} else {
			attached = append(attached, p)
		}
		b.meet(p)
	}
	return b, attached, other
}

// dials counts how often somebody is dialled within so many seconds.
func (b *box) dials(who *someone, seconds int) (n int) {
	for range seconds {
		b.after(time.Second)
		n += len(messages[*wire.Gossip](b, who.id()))
	}
	return n
}

// A member that nobody can dial dials those again to whom it is attached, and
// who may hold a token for it.
func TestAttachment_Lost_DialledAgain(t *testing.T) {
	b, attached, _ := hidden(t)
	b.step(member.Disconnected{Peer: attached[0].id()})
	assert.GreaterOrEqual(t, b.dials(attached[0], 10), 2)
}

// It does not dial others again, but to compare directories.
func TestAttachment_OthersLost_NotDialledAgain(t *testing.T) {
	b, _, other := hidden(t)
	b.step(member.Disconnected{Peer: other.id()})
	assert.LessOrEqual(t, b.dials(other, 10), 1)
}

// It dials who waits for its answer, too.
func TestCreditor_TransferOpen_Dialled(t *testing.T) {
	b, _, other := hidden(t)
	other.gives(b, 1)
	b.step(member.Disconnected{Peer: other.id()})
	require.GreaterOrEqual(t, b.dials(other, 10), 2)
}
