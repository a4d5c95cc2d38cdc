package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// trio is three nodes of one group in this process; the first one founds it.
type trio struct {
	*testing.T
	slots  int
	nodes  []*node.Node
	ids    []node.Identity
	dirs   []string
	inside atomic.Int32
}

func newTrio(t *testing.T, slots int, change func(i int, c *node.Config)) *trio {
	r := quick
	r.Slots = slots
	a := newAuthority(t, r)
	tr := &trio{T: t, slots: slots}
	for i := range 3 {
		tr.ids = append(tr.ids, a.issueAs(t, fmt.Sprintf("m%d", i), func(c *certificate.Claims) {
			c.NotBefore, c.NotAfter = c.NotBefore.Add(-100*time.Hour), c.NotAfter.Add(100*time.Hour)
		}))
		tr.dirs = append(tr.dirs, t.TempDir())
		n, _ := openNode(t, tr.ids[i], func(c *node.Config) {
			c.StateDir, c.Found = tr.dirs[i], i == 0
			if i > 0 {
				c.Bootstrap = []string{tr.nodes[0].Address()}
			}
			if change != nil {
				change(i, c)
			}
		})
		tr.nodes = append(tr.nodes, n)
	}
	return tr
}

// work lets nodes run the protected operation a few times each, all at once. No
// more may run together than there are slots.
func (tr *trio) work(runs int, nodes ...*node.Node) {
	tr.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	assert.NoError(tr, tr.workIn(ctx, runs, new(atomic.Int64), nodes...))
}

// workIn is work until ctx ends, and counts what has run.
func (tr *trio) workIn(ctx context.Context, runs int, ran *atomic.Int64, nodes ...*node.Node) error {
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			for range runs {
				errs[i] = wander.Of(n).Do(ctx, resource, func(context.Context, wander.Grant) error {
					defer tr.inside.Add(-1)
					assert.LessOrEqual(tr, int(tr.inside.Add(1)), tr.slots, "programs at once")
					return nil
				})
				if errs[i] != nil {
					return
				}
				ran.Add(1)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// names are the members' names by id.
func (tr *trio) names() map[ident.Member]string {
	names := make(map[ident.Member]string)
	for _, id := range tr.ids {
		names[id.Certificate.Member()] = id.Certificate.Body().Name
	}
	return names
}

// journals reads what all have on disk, after they have ended: nodes that run
// would be read at different moments.
func (tr *trio) journals() *chronicle {
	tr.end()
	dirs := make(map[string]string)
	for i, id := range tr.ids {
		dirs[id.Certificate.Body().Name] = filepath.Join(tr.dirs[i], "journal")
	}
	return readJournals(tr, dirs, tr.names())
}

func (tr *trio) end() {
	for _, n := range tr.nodes {
		closeNow(n)
	}
}

// copyState copies a state folder as a backup does, file by file.
func (tr *trio) copyState(from, to string) {
	tr.Helper()
	require.NoError(tr, os.CopyFS(to, os.DirFS(from)))
	require.NoError(tr, os.Chmod(filepath.Join(to, "reset.key"), 0o600))
}

// TestClocks_OffByHours_TokenCirculates: members whose clocks are wrong by hours, but within
// clock_allowance and their certificates, take part like all others.
func TestClocks_OffByHours_TokenCirculates(t *testing.T) {
	off := []time.Duration{7 * time.Hour, 0, -9 * time.Hour}
	tr := newTrio(t, 1, func(i int, c *node.Config) {
		c.Now = func() time.Time { return time.Now().Add(off[i]) }
	})
	tr.work(10, tr.nodes...)
	c := tr.journals()
	c.clockless = true
	c.requireOne(t, c.theToken(t))
}

// TestGenerator_ImpossibleClock_Refused: a token made by a clock beyond clock_allowance goes
// nowhere, and harms no other. Its generator, which founds the group alone, drops it as soon as
// somebody refuses it, and makes one by the clocks of the others.
func TestGenerator_ImpossibleClock_Refused(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-60 * time.Hour, 60 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			founder := make(map[string]string)
			generated := func() bool { return len(readJournals(t, founder, nil).tokens) == 1 }
			tr := newTrio(t, 1, func(i int, c *node.Config) {
				switch i {
				case 0:
					founder["m0"] = filepath.Join(c.StateDir, "journal")
					c.Now = func() time.Time { return time.Now().Add(off) }
				case 1:
					await.Until(t, "it has made its token before it meets anybody", generated)
				}
			})
			tr.work(60, tr.nodes[1:]...)
			c := tr.journals()
			c.clockless = true
			require.Len(t, c.tokens, 2)
			stayed := 0
			for id, hops := range c.tokens {
				require.NotNil(t, c.own("m0", id, 0), "who founds the group makes all tokens")
				if c.last(id) == 0 {
					assert.NotZero(t, hops[0][0].to, "it is dropped")
					stayed++
				} else {
					c.requireOne(t, id)
				}
			}
			assert.Equal(t, 1, stayed, "only the bad token stays with its generator")
			assert.Equal(t, 1, c.dropped, "tokens that were dropped")
		})
	}
}

// TestRestoredBackup puts back a copy of a member's state in which it holds the
// token, after the token has long gone on. The member begins a new custody
// memory, and nobody else notices.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	for name, removeFirst := range map[string]bool{"moved aside": false, "removed": true} {
		t.Run(name, func(t *testing.T) {
			tr := newTrio(t, 1, nil)
			tr.work(2, tr.nodes...)
			n, backup := tr.nodes[1], filepath.Join(t.TempDir(), "backup")
			ctx := context.Background()
			require.NoError(t, wander.Of(n).Do(ctx, resource, func(context.Context, wander.Grant) error {
				tr.copyState(tr.dirs[1], backup)
				return nil
			}))
			tr.work(5, tr.nodes...)
			before := n.Status().Incarnation
			require.NoError(t, n.Close(ctx), "it passes the token on")
			past := readJournal(t, filepath.Join(tr.dirs[1], "journal"), new(ident.Group))

			if removeFirst {
				require.NoError(t, os.RemoveAll(tr.dirs[1]))
			} else {
				require.NoError(t, os.Rename(tr.dirs[1], tr.dirs[1]+".old"))
			}
			tr.copyState(backup, tr.dirs[1])
			n, _ = openNode(t, tr.ids[1], func(c *node.Config) {
				c.StateDir, c.Bootstrap = tr.dirs[1], []string{tr.nodes[0].Address()}
			})
			tr.nodes[1] = n
			require.NotEqual(t, before, n.Status().Incarnation)
			tr.work(5, tr.nodes...)

			c := tr.journalsWith(past)
			c.requireOne(t, c.theToken(t))
		})
	}
}

// journalsWith is journals, where the second member's is what it was before a
// copy was put in its place, and what the copy has recorded since.
func (tr *trio) journalsWith(past []journal.Stamped) *chronicle {
	tr.end()
	c := &chronicle{names: tr.names(), tokens: make(map[ident.Token]map[uint64][]*custody), starts: make(map[string][]ident.Grant)}
	for i, dir := range tr.dirs {
		list := readJournal(tr, filepath.Join(dir, "journal"), &c.group)
		if i == 1 {
			list = append(past, sinceIncarnation(tr, list)...)
		}
		for _, r := range list {
			require.NoError(tr, c.record(fmt.Sprintf("m%d", i), r))
		}
	}
	return c
}

// sinceIncarnation is the end of a journal, from its last incarnation on.
func sinceIncarnation(t testing.TB, list []journal.Stamped) []journal.Stamped {
	t.Helper()
	for i, s := range slices.Backward(list) {
		if _, ok := s.Record.(*journal.Incarnation); ok {
			return list[i:]
		}
	}
	require.FailNow(t, "no incarnation")
	return nil
}

// TestClonedJournal runs a member twice, from a copy of its journal in which it
// holds a token. Others keep working, and no token is in two places. What they
// send to one of the two may wait there until it is met again, so there are a
// few tokens. The first one gives its tokens up if it hears of what its copy has signed
// before it hears that its copy began without tokens.
func TestClonedJournal(t *testing.T) {
	tr := newTrio(t, 8, nil)
	tr.work(2, tr.nodes...)
	n, copied := tr.nodes[1], filepath.Join(t.TempDir(), "clone")
	require.NoError(t, wander.Of(n).Do(context.Background(), resource, func(context.Context, wander.Grant) error {
		tr.copyState(tr.dirs[1], copied)
		return nil
	}))
	var g ident.Group
	shared := len(readJournal(t, filepath.Join(copied, "journal"), &g))
	clone, _ := openNode(t, tr.ids[1], func(c *node.Config) {
		c.StateDir, c.Bootstrap = copied, []string{tr.nodes[0].Address(), tr.nodes[2].Address()}
	})
	require.NotEqual(t, n.Status().Incarnation, clone.Status().Incarnation)
	wentBack := func() uint64 { return n.Status().Journal.WentBack + clone.Status().Journal.WentBack }
	tr.workWhileTokensLast(20, func() bool { return wentBack() > 0 }, tr.nodes[0], tr.nodes[2])

	closeNow(clone)
	c := tr.journals()
	for _, s := range readJournal(t, filepath.Join(copied, "journal"), &c.group)[shared:] {
		require.NoError(t, c.record("m1'", s))
	}
	require.Equal(t, tr.slots, len(c.tokens))
	for id := range c.tokens {
		if end := c.requireChain(t, id); end.to != 0 && end.next == "" {
			assert.Equal(t, "m1", end.who[:2], "the copied member alone may lose a token")
			assert.Positive(t, n.Status().Journal.WentBack, "it says so")
		}
	}
}

// workWhileTokensLast is work that may end early, but only where tokens may have been
// lost: as soon as nothing has run for a while.
func (tr *trio) workWhileTokensLast(runs int, lost func() bool, nodes ...*node.Node) {
	tr.Helper()
	const maxIdle = 500 // looks
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var ran atomic.Int64
	ended := make(chan error, 1)
	go func() { ended <- tr.workIn(ctx, runs, &ran, nodes...) }()
	last, idle := int64(0), 0
	await.Until(tr, "the end of the work", func() bool {
		if now := ran.Load(); now != last || !lost() {
			last, idle = now, 0
		}
		idle++
		return len(ended) > 0 || idle > maxIdle
	})
	cancel()
	if err := <-ended; err != nil {
		require.ErrorIs(tr, err, context.Canceled)
	}
}

// TestJournal_SecondProcess_Refused is refused.
func TestJournal_SecondProcess_Refused(t *testing.T) {
	t.Parallel()
	tr := newTrio(t, 1, nil)
	_, err := node.Open(context.Background(), node.Config{
		Identity: tr.ids[0], StateDir: tr.dirs[0], Listen: "127.0.0.1:0", Socket: "-",
	})
	require.ErrorIs(t, err, node.ErrJournal)
	require.ErrorIs(t, err, store.ErrLocked)
	tr.work(1, tr.nodes...)
}
