package node_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// authority is a throw-away CA with one group.
type authority struct {
	key   *signature.PrivateKey
	group *group.Group
	// next serial number and version of the revocation list, less one
	next, revoked uint64
}

func newAuthority(t testing.TB, resources ...group.Resource) *authority {
	t.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	pub := key.Public().Bytes()
	id := ident.GroupOf(pub[:])
	now := time.Now().Truncate(time.Second)
	auth, err := group.Statement{Name: "test", Group: id, Key: pub, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}.Sign(key)
	require.NoError(t, err)
	s := group.Settings{Version: 1, Name: "test", Issued: now, Resources: resources}.WithDefaults()
	c, err := s.Sign(id, key)
	require.NoError(t, err)
	g, err := group.New([]group.Authority{auth}, c)
	require.NoError(t, err)
	return &authority{key: key, group: g}
}

func (a *authority) issue(t testing.TB, name string) node.Identity {
	t.Helper()
	return a.issueAs(t, name, func(*certificate.Claims) {})
}

// issueAs is issue with other claims.
func (a *authority) issueAs(t testing.TB, name string, change func(*certificate.Claims)) node.Identity {
	t.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	a.next++
	now := time.Now().Truncate(time.Second)
	claims := certificate.Claims{
		Name: name, Serial: a.next, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Hour), IssuedAt: now,
		Key: key.Public().Bytes(), Group: a.group.ID(), ConfigVersion: 1,
	}
	change(&claims)
	c, err := claims.Sign(a.key)
	require.NoError(t, err)
	return node.Identity{Group: a.group, Certificate: c, Key: key}
}

// revoke signs the death of a member.
func (a *authority) revoke(t testing.TB, m ident.Member) []byte {
	t.Helper()
	a.revoked++
	r, err := certificate.Revocation{
		Version: a.revoked, Member: m, Serial: 1, Reason: "left", Time: uint64(time.Now().UnixMilli()),
	}.Sign(a.group.ID(), a.key)
	require.NoError(t, err)
	return r.Raw()
}

func TestToken_Circulates_OneProgram(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, group.Resource{Name: "ftp", MaxHold: time.Minute, Params: policy.Params{
		OperationTime: 50 * time.Millisecond, MembersMax: 3, SkipDelay: 5 * time.Millisecond, MinInterval: time.Millisecond,
	}}.WithDefaults())
	ctx := context.Background()
	var nodes []*node.Node
	var bootstrap []string
	var logs logBook
	for i := range 3 {
		n, err := node.Open(ctx, node.Config{
			Identity: a.issue(t, fmt.Sprintf("m%d", i)), StateDir: t.TempDir(), Listen: "127.0.0.1:0",
			Bootstrap: bootstrap, Found: i == 0, Socket: "-",
			Log: slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, n.Close(ctx)) })
		nodes = append(nodes, n)
		bootstrap = []string{nodes[0].Address()}
	}
	var inside, runs atomic.Int64
	done := make(chan error, len(nodes))
	for _, n := range nodes {
		go func() {
			var err error
			for i := 0; i < 10 && err == nil; i++ {
				err = wander.Of(n).Do(ctx, "ftp", func(context.Context, wander.Grant) error {
					if inside.Add(1) > 1 {
						return fmt.Errorf("two inside")
					}
					runs.Add(1)
					inside.Add(-1)
					return nil
				})
			}
			done <- err
		}()
	}
	for range nodes {
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(patience):
			t.Fatalf("no progress after %d runs\n%+v\n%s", runs.Load(), nodes[0].Status(), logs.String())
		}
	}
	require.EqualValues(t, 30, runs.Load())
}
