package conformance

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// resource is what the tests make tokens of. It passes them on at once, and makes
// none itself.
const resource = "test"

var quick = group.Resource{Name: resource, MaxHold: 3 * time.Second, Params: policy.Params{
	Preset: wandering.Paper, OperationTime: 10 * time.Millisecond, MembersMax: 3, SkipDelay: time.Millisecond,
	MinInterval: time.Millisecond, RegenerationMean: policy.MaxInterval,
}}

// kept has a keeper. Nobody wants it, so no token of it is made.
var kept = group.Resource{Name: "kept", MaxHold: time.Second, Params: policy.Params{
	Preset: wandering.Light, OperationTime: time.Second, MembersMax: 3, SkipDelay: time.Millisecond,
}}

// brisk is a tuning with short pauses: reservations lapse, and transfers are sent
// again, while a test waits.
var brisk = func() handoff.Tuning {
	t := handoff.DefaultTuning
	t.RetransmitFirst, t.NobodyPause, t.Lifetime = 40*time.Millisecond, 20*time.Millisecond, 150*time.Millisecond
	return t
}()

// authority is a throw-away CA with one group.
type authority struct {
	key   *signature.PrivateKey
	group *group.Group
	next  uint64
}

func newAuthority(t testing.TB) *authority {
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	pub := key.Public().Bytes()
	id := ident.GroupOf(pub[:])
	now := time.Now().Truncate(time.Second)
	first, err := group.Statement{Name: "test", Group: id, Key: pub, NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(48 * time.Hour)}.Sign(key)
	require.NoError(t, err)
	c, err := group.Settings{Version: 3, Name: "test", Issued: now, Resources: []group.Resource{kept, quick}}.WithDefaults().Sign(id, key)
	require.NoError(t, err)
	g, err := group.New([]group.Authority{first}, c)
	require.NoError(t, err)
	return &authority{key: key, group: g}
}

// issue makes a member whose certificate ends so much later.
func (a *authority) issue(t testing.TB, name string, life time.Duration) Identity {
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	a.next++
	now := time.Now().Truncate(time.Second)
	c, err := certificate.Claims{
		Name: name, Serial: a.next, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(life), IssuedAt: now.Add(-24 * time.Hour),
		Key: key.Public().Bytes(), Group: a.group.ID(), ConfigVersion: 3,
	}.Sign(a.key)
	require.NoError(t, err)
	return Identity{Certificate: c, Key: key}
}

func (a *authority) revoke(t testing.TB, m ident.Member) []byte {
	r, err := certificate.Revocation{Version: 1, Member: m, Serial: 1, Reason: "test", Time: 1}.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	return r.Raw()
}

// openNode starts the project's own member in this process.
func openNode(t testing.TB, a *authority, revoked ident.Member) *node.Node {
	id := a.issue(t, "subject", time.Hour)
	n, err := node.Open(context.Background(), node.Config{
		Identity: node.Identity{
			Group: a.group, Certificate: id.Certificate, Key: id.Key, Extra: group.Extra{Revocations: [][]byte{a.revoke(t, revoked)}},
		},
		StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Tuning: brisk, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Close(now)
	})
	return n
}

// newer is the group with a configuration that lacks the resource.
func (a *authority) newer(t testing.TB) *group.Group {
	other := quick
	other.Name = "other"
	s := a.group.Config().Settings()
	s.Version, s.Resources = 4, []group.Resource{other}
	c, err := s.WithDefaults().Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	g, err := a.group.Update(c.Raw(), nil)
	require.NoError(t, err)
	return g
}

// options are a run against an address with everything that it may need.
func (a *authority) options(t testing.TB, address string, revoked Identity) Options {
	expired := a.issue(t, "expired", -time.Hour)
	return Options{
		Address: address, Group: a.group, Identity: a.issue(t, "tester", time.Hour), Resource: resource,
		Revoked: &revoked, Expired: &expired, Newer: a.newer(t), Timeout: time.Minute, Quiet: -1,
	}
}
