package transport

import (
	"context"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/cddl"
)

// A member that is asked dials each address of the asker from another port, and says from where it is asked. No connection comes of it.
func TestDialBack_EachAddress_Told(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	other := g.open(t, b, loopback(t), "other", nil)
	nobody := loopback(t)
	own := b.addresses(a.Self())[0]
	b.set(a.Self(), own, nobody.LocalAddr().String(), b.addresses(other.Self())[0])
	back, err := a.DialBack(t.Context(), b.addresses(z.Self()), z.Self())
	require.NoError(t, err)
	assert.Equal(t, z.Self(), back.By.Member())
	assert.Equal(t, own, back.Seen.String())
	require.Len(t, back.Dialled, 3)
	for i, want := range []DialOutcome{DialAnswered, DialUnanswered, DialRefused} {
		assert.Equal(t, b.addresses(a.Self())[i], back.Dialled[i].Address)
		assert.Equal(t, want, back.Dialled[i].Outcome, back.Dialled[i].Address)
	}
	for _, n := range []*node{a, z, other} {
		assert.Zero(t, n.count(kind("connected")))
		assert.Zero(t, n.Stats().Connections)
	}
}

// From the port that the asker dials nothing comes: what that lets in shows nothing.
func TestDialBack_Dials_FromAnotherPort(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	ear := &deafSocket{PacketConn: loopback(t)}
	a := g.open(t, b, ear, "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	a.Send(z.Self(), Custody, []byte("there"))
	z.wait(frame("there"), 1)
	to := b.addresses(z.Self())[0]
	ear.to.Store(&to)
	list := z.backs.dialAll(t.Context(), b.addresses(a.Self()), a.Self())
	require.Len(t, list, 1)
	assert.Equal(t, DialAnswered, list[0].Outcome)
}

// Requests beyond a few are refused, and those of a revoked member.
func TestDialBack_TooOften_Refused(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	for range maxBacks {
		require.True(t, z.backs.begin(z.now()))
	}
	_, err := a.DialBack(t.Context(), b.addresses(z.Self()), z.Self())
	require.ErrorIs(t, err, ErrOverload)
	for range maxBacks {
		z.backs.end()
	}
	assert.Equal(t, 0, z.backs.served)
	later := newBacks(nil)
	for range maxBacks {
		require.True(t, later.begin(time.Hour))
		later.end()
	}
	assert.False(t, later.begin(time.Hour), "too many in a second")
	assert.True(t, later.begin(time.Hour+time.Second))

	_, err = a.DialBack(t.Context(), nil, z.Self())
	require.ErrorIs(t, err, ErrNoAddress)
	for range MaxDials {
		a.dials <- struct{}{}
	}
	_, err = a.DialBack(t.Context(), b.addresses(z.Self()), z.Self())
	require.ErrorIs(t, err, ErrBusy)
	for range MaxDials {
		<-a.dials
	}
}

// A member that asks and says nothing, and one that goes, hold no place for longer than a request may take.
func TestDialBack_AskerSilent_PlaceFree(t *testing.T) {
	g, b := newGroup(t, "g"), newBook()
	a := g.open(t, b, loopback(t), "a", nil)
	z := g.open(t, b, loopback(t), "z", nil)
	ctx, cancel := context.WithTimeout(t.Context(), HandshakeTimeout)
	defer cancel()
	q, _, err := a.reach(ctx, b.addresses(z.Self()), target{want: ptr(z.Self()), protocol: backALPN})
	require.NoError(t, err)
	served := func() int {
		z.backs.mu.Lock()
		defer z.backs.mu.Unlock()
		return z.backs.served
	}
	await.Until(t, "the request", func() bool { return served() == 1 })
	q.CloseWithError(quic.ApplicationErrorCode(CodeNormal), "")
	await.Until(t, "the end of it", func() bool { return served() == 0 })
}

func TestBackAnswer_Encoded_MatchesCDDL(t *testing.T) {
	text, err := os.ReadFile("../../spec/wire.cddl")
	require.NoError(t, err)
	schema, err := cddl.Parse(string(text))
	require.NoError(t, err)
	full := slices.Repeat([]BackDial{{Address: string(make([]byte, maxBackAddress)), Outcome: DialRefused}}, maxAddresses)
	for _, a := range []backAnswer{{Seen: "192.0.2.7:4133", Dialled: []BackDial{}}, {Seen: (&net.UDPAddr{IP: net.ParseIP("2001:db8::1"), Port: 65535}).String(), Dialled: full}} {
		body, err := a.encode()
		require.NoError(t, err)
		assert.NoError(t, schema.Check("dialled-back", body))
		assert.LessOrEqual(t, len(body), maxBackAnswer)
		_, _, err = parseBackAnswer(body)
		assert.NoError(t, err)
	}
}
