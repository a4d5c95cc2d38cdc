package live_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/enrolment"
)

// revoke makes the CA revoke a member.
func (w *world) revoke(m *machine) {
	w.Helper()
	_, err := w.ca.Revoke(m.id, "stolen")
	require.NoError(w, err)
}

// A revocation that is made at the CA reaches everybody without anybody's help:
// the first by itself, the others from it. The member ends, and stays out.
func TestRevocation(t *testing.T) {
	t.Parallel()
	w := newRegeneratingWorld(t)
	a, b, bad := w.join("a"), w.join("b"), w.join("bad")
	w.start(a, b, bad)
	w.circulate(a, b, bad)
	for _, m := range []*machine{b, bad} { // they hear of it from others only
		require.NoError(t, m.Close(context.Background()))
		require.NoError(t, m.open(func(c *node.Config) { c.Authority = nil }))
	}
	w.circulate(a, b, bad)
	w.revoke(bad)
	bad.ends(node.ErrRevoked)
	w.agree("revoked", bad, a, b)
	for _, m := range []*machine{a, b} {
		w.until(m.name+" has closed the connection", func() bool { return !m.connected(bad) })
	}
	w.circulate(a, b)

	require.ErrorIs(t, bad.open(nil), node.ErrRevoked, "its journal says so")
	bad.up = false
	w.audit(bad)
}

// A member that was revoked while it was down, and whose files say nothing of
// it, is told by its peers, or by the CA when it reaches nobody else.
func TestMember_RevokedWhileDown_Ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, bad, alone := w.join("a"), w.join("b"), w.join("bad"), w.join("alone")
	w.start(a, b, bad, alone)
	w.circulate(a, b, bad, alone)
	for _, m := range []*machine{bad, alone} {
		require.NoError(t, m.Close(context.Background()))
		m.up = false
	}
	w.revoke(bad)
	w.revoke(alone)
	w.agree("revoked", alone, a, b)
	w.circulate(a, b)

	bad.peers = []string{a.listen, b.listen}
	require.NoError(t, bad.open(func(c *node.Config) { c.Authority = nil }))
	bad.ends(node.ErrRevoked)
	alone.peers = nil
	if err := alone.open(nil); err != nil {
		require.ErrorIs(t, err, node.ErrRevoked)
	} else {
		alone.ends(node.ErrRevoked)
	}

	// With a group file that has it, it does not even start.
	p, err := w.ca.Publication()
	require.NoError(t, err)
	id, err := b.identity()
	require.NoError(t, err)
	blocks := id.Group.Blocks()
	for _, raw := range p.Revocations {
		blocks = append(blocks, keyfile.Block{Type: keyfile.Revocation, Bytes: raw})
	}
	text, err := keyfile.EncodeBlocks(blocks...)
	bad.write("group.crt", text, err)
	require.ErrorIs(t, bad.open(func(c *node.Config) { c.StateDir = t.TempDir(); c.Found = false }), node.ErrRevoked)
	w.circulate(a, b)
	w.audit()
}

// A member that leaves is gone at once, for its peers and for the CA, and permanently.
func TestLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.join("a"), w.join("b"), w.join("c")
	w.start(a, b, c)
	w.circulate(a, b, c)
	id, err := c.identity()
	require.NoError(t, err)
	require.NoError(t, c.Leave(context.Background()))
	require.ErrorIs(t, c.Err(), node.ErrLeft)
	c.kill()
	w.agree("left", c, a, b)
	w.until("the CA has heard of it", func() bool { return w.ca.Eligible(c.id) != nil })
	require.ErrorIs(t, w.ca.Eligible(c.id), ca.ErrLeft)
	w.circulate(a, b)

	client := enrolment.Client{Addresses: []string{w.address}, Group: id.Group, Certificate: id.Certificate, Key: c.key, Now: w.now}
	_, err = client.Renew(context.Background())
	require.ErrorIs(t, err, enrolment.ErrLeft)
	_, err = c.enrol(w.invite("c2"))
	require.ErrorIs(t, err, enrolment.ErrRefused)
	_, err = c.enrol(w.invite("c"))
	require.ErrorIs(t, err, enrolment.ErrRefused, "the name is free, the key is not")
	require.ErrorIs(t, c.open(nil), node.ErrLeft)

	// Also without the journal that says so.
	if err := c.open(func(n *node.Config) { n.StateDir = t.TempDir() }); err != nil {
		require.ErrorIs(t, err, node.ErrLeft)
	} else {
		c.ends(node.ErrLeft)
	}
	text, err := os.ReadFile(filepath.Join(w.dir, ca.GroupFile))
	c.write("group.crt", text, err)
	fresh := func(n *node.Config) { n.StateDir, n.Found, n.Authority = t.TempDir(), false, nil }
	require.ErrorIs(t, c.open(fresh), node.ErrLeft, "the group file says so, too")
	w.join("c") // another machine takes the name
	w.circulate(a, b)
	w.audit()
}

// A leave that the CA did not hear is brought by another member.
func TestLeave_AuthorityAway_HeardLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.join("a"), w.join("b")
	w.start(a, b)
	w.circulate(a, b)
	w.stop()
	require.NoError(t, b.Leave(context.Background()))
	b.kill()
	w.agree("left", b, a)
	assert.NoError(t, w.ca.Eligible(b.id))
	w.serve()
	w.until("the CA has heard of it", func() bool { return w.ca.Eligible(b.id) != nil })
	require.ErrorIs(t, w.ca.Eligible(b.id), ca.ErrLeft)
	w.audit()
}
