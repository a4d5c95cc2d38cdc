package node_test

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/wire"
)

// TestStranger_Handshake_Refused: who has no valid certificate of the
// group never gets a stream. Each class is counted in the status, and logged
// once however often it knocks.
func TestStranger_Handshake_Refused(t *testing.T) {
	const knocks = 5
	a := newAuthority(t, quick)
	n, log := openNode(t, a.issue(t, "door"), nil)
	past := func(c *certificate.Claims) {
		c.NotBefore, c.IssuedAt = c.NotBefore.Add(-2*time.Hour), c.IssuedAt.Add(-2*time.Hour)
		c.NotAfter = c.NotAfter.Add(-2 * time.Hour)
	}
	future := func(c *certificate.Claims) {
		c.NotBefore, c.NotAfter = c.NotBefore.Add(time.Hour), c.NotAfter.Add(time.Hour)
	}
	for _, c := range []struct {
		class error
		knock func() error
	}{
		{transport.ErrNoCertificate, func() error { return knockWithout(n.Address()) }},
		{transport.ErrOtherGroup, a.knockAs(t, n, newAuthority(t, quick).issue(t, "other"))},
		{transport.ErrExpired, a.knockAs(t, n, a.issueAs(t, "old", past))},
		{transport.ErrNotYetValid, a.knockAs(t, n, a.issueAs(t, "young", future))},
	} {
		t.Run(c.class.Error(), func(t *testing.T) {
			for range knocks {
				require.Error(t, c.knock())
			}
			await.Until(t, "all are counted", func() bool {
				return n.Status().Rejected["transport: "+c.class.Error()] == knocks
			})
			await.Until(t, "the first one is logged, which counts before", func() bool { return log.lines("level=WARN", `msg="`+c.class.Error()+`"`) > 0 })
			assert.Equal(t, 1, log.lines("level=WARN", `msg="`+c.class.Error()+`"`), log)
		})
	}
	assert.Empty(t, n.Status().Peers)
	assert.Empty(t, others(n), "strangers in the directory")
}

// others are the members that a node knows besides itself.
func others(n *node.Node) (names []string) {
	for _, m := range n.Members() {
		if m.Member != n.ID() {
			names = append(names, m.Name)
		}
	}
	return names
}

// knockWithout tries to connect without any certificate, and returns how the
// connection ends.
func knockWithout(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conf := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{transport.ALPN}}
	q, err := quic.DialAddr(ctx, address, conf, nil)
	if err != nil {
		return err
	}
	<-q.Context().Done() // a client cannot know that its certificate is refused before it is told
	return context.Cause(q.Context())
}

// knockAs tries to connect as a member, and returns how the connection ends.
func (a *authority) knockAs(t *testing.T, n *node.Node, id node.Identity) func() error {
	p := a.openPeer(t, id)
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if _, err := p.DialAddress(ctx, n.Address()); err != nil {
			return err
		}
		for {
			err := <-p.ends
			if errors.Is(err, transport.ErrRefused) {
				return err
			}
		}
	}
}

// TestRevoked_Connected_NotifiedAndEnds: a revocation that a node reads from its group
// file closes the open connection, after the revoked member has been handed
// the proof; and its node ends itself.
func TestRevoked_Connected_NotifiedAndEnds(t *testing.T) {
	a := newAuthority(t, quick)
	stays := a.issue(t, "stays")
	stays.GroupFile = a.groupFile(t)
	n, log := openNode(t, stays, nil)
	id := a.issue(t, "goes")
	goes, _ := openNode(t, id, func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	p := a.openPeer(t, a.issue(t, "listens"))
	p.meet(n)
	await.Until(t, "both are connected", func() bool { return len(n.Status().Peers) == 2 })

	revoked := [][]byte{a.revoke(t, goes.ID()), a.revoke(t, p.Self())}
	text, err := os.ReadFile(a.groupFile(t, revoked...))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(stays.GroupFile, text, 0o600))
	require.NoError(t, n.Reload())

	await.Next(t, "the end of the revoked node", goes.Done())
	require.ErrorIs(t, goes.Err(), node.ErrRevoked)
	_, err = goes.Acquire(context.Background(), request(resource))
	require.ErrorIs(t, err, node.ErrRevoked, "and refuses its programs")

	require.Contains(t, hear[*wire.Revocations](p).Revocations, revoked[1])
	require.ErrorIs(t, <-p.ends, transport.ErrRevoked)
	await.Until(t, "nobody is connected", func() bool { return len(n.Status().Peers) == 0 })
	assert.EqualValues(t, 2, n.Status().Rejected["transport: "+transport.ErrRevoked.Error()])
	assert.Equal(t, 1, log.lines("level=WARN", "revoked"), log)
}

// TestRevoked_ConnectsLater_Notified is the same for one that was away: it gets
// through the handshake only to learn why it is turned away.
func TestRevoked_ConnectsLater_Notified(t *testing.T) {
	a := newAuthority(t, quick)
	id, listener := a.issue(t, "goes"), a.issue(t, "listens")
	stays := a.issue(t, "stays")
	raw := a.revoke(t, listener.Certificate.Member())
	stays.Extra = group.Extra{Revocations: [][]byte{a.revoke(t, id.Certificate.Member()), raw}}
	n, log := openNode(t, stays, nil)

	goes, _ := openNode(t, id, func(c *node.Config) { c.Bootstrap = []string{n.Address()} })
	await.Next(t, "the end of the revoked node", goes.Done())
	require.ErrorIs(t, goes.Err(), node.ErrRevoked)

	const visits = 3
	class := "transport: " + transport.ErrRevoked.Error()
	before := n.Status().Rejected[class]
	p := a.openPeer(t, listener)
	for range visits {
		_, err := p.DialAddress(context.Background(), n.Address())
		require.NoError(t, err)
		require.Contains(t, hear[*wire.Revocations](p).Revocations, raw)
		require.ErrorIs(t, <-p.ends, transport.ErrRevoked)
	}
	assert.EqualValues(t, before+visits, n.Status().Rejected[class])
	assert.Equal(t, 1, log.lines("level=WARN", "revoked"), log)
	assert.Empty(t, n.Status().Peers)
}
