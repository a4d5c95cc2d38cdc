package node_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/browser"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// A page shows what two members do while they do it.
func TestPage_TokenMoves_Shown(t *testing.T) {
	b := browser.Start(t)
	shared := group.Resource{Name: resource, MaxHold: time.Minute, Params: policy.Params{
		OperationTime: 50 * time.Millisecond, MembersMax: 3, MinInterval: time.Millisecond,
	}}
	a := newAuthority(t, shared)
	first, _ := openNode(t, a.issue(t, "first"), func(c *node.Config) { c.Found, c.Web = true, "localhost:0" })
	second, _ := openNode(t, a.issue(t, "second"), func(c *node.Config) { c.Bootstrap = []string{first.Address()} })
	turn := func(n *node.Node) api.HeldGrant {
		held, err := n.Acquire(context.Background(), api.AcquireRequest{Resource: shared.Name, Label: "<b>"})
		require.NoError(t, err)
		return held
	}
	held := turn(first)
	tab := b.Visit(t, node.PageAddress(first), browser.View{Width: 1200, Height: 900})
	tab.Until("document.querySelector('.card .chip.good')?.textContent === 'running'")
	tab.Until("[...document.querySelectorAll('#members th[scope=row]')].map(e => e.textContent).join() === 'first,second'")
	held.Release(true, 0)
	held = turn(second)
	defer held.Release(true, 0)
	tab.Until("document.querySelector('.card .sentence').textContent.includes('second')")
	tab.Until("document.querySelector('.walkbox .note').textContent.startsWith('1 of 1 other members heard of')")
	tab.Until("document.querySelectorAll('.chart .run').length > 0 && document.querySelectorAll('.chart .dot').length > 1")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _, _ = first.Acquire(ctx, api.AcquireRequest{Resource: shared.Name}) }()
	tab.Until("document.querySelector('.facts').textContent.includes('waiting here 1')")
	tab.Until("document.querySelector('.card').classList.contains('busy')")
	assert.Empty(t, tab.Problems())

	require.NoError(t, first.Close(context.Background()))
	tab.Until("document.querySelector('#link').dataset.state === 'gone' && document.body.classList.contains('stale')")
}

// The page is on the socket without any setting, and answers to no other name.
func TestPage_Socket_Served(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	n, _ := openNode(t, newAuthority(t, quick).issue(t, "alone"), func(c *node.Config) { c.Socket = socket })
	assert.Empty(t, node.PageAddress(n))
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for host, want := range map[string]int{"localhost": http.StatusOK, "evil.example": http.StatusMisdirectedRequest} {
		response, err := client.Get("http://" + host + "/")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, want, response.StatusCode, host)
	}
}

func TestPage_OtherMachines_Refused(t *testing.T) {
	id := newAuthority(t, quick).issue(t, "alone")
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		_, err := node.Open(context.Background(), node.Config{Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Web: address})
		assert.ErrorIs(t, err, node.ErrNotLoopback, address)
	}
	_, err := node.Open(context.Background(), node.Config{Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Web: "nowhere"})
	var setting *node.SettingError
	require.ErrorAs(t, err, &setting)
	assert.Equal(t, "web.listen", setting.Key)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = node.Open(context.Background(), node.Config{Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-", Web: l.Addr().String()})
	require.ErrorAs(t, err, &setting, "the address is taken")
}
