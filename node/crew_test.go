package node_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/ident"
)

// patience is how long a test waits for what must come. It decides nothing but
// when a hanging test fails.
const patience = 3 * time.Minute

// writeIdentity puts a member's files into dir.
func writeIdentity(t testing.TB, dir string, id node.Identity, extra ...keyfile.Block) {
	t.Helper()
	write := func(name string, text []byte, err error) {
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	text, err := keyfile.EncodePrivateKey(id.Key)
	write("member.key", text, err)
	text, err = keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: id.Certificate.Raw()})
	write("member.crt", text, err)
	text, err = keyfile.EncodeBlocks(append(id.Group.Blocks(), extra...)...)
	write("group.crt", text, err)
}

// crew is a group of members that are processes of their own.
type crew struct {
	t       *testing.T
	members []*hand

	mu sync.Mutex
}

// hand is one member.
type hand struct {
	life
	name   string
	id     ident.Member
	cmd    *exec.Cmd
	exited chan struct{}

	// By crew.mu.
	up   bool
	hops []uint64 // of the custodies that it has reported
}

func newCrew(t *testing.T, a *authority, size int) *crew {
	c := &crew{t: t}
	t.Cleanup(c.killAll)
	for i := range size {
		h := &hand{name: fmt.Sprintf("m%d", i), life: life{Dir: t.TempDir(), Listen: ports.Address(t), Found: i == 0}}
		id := a.issue(t, h.name)
		h.id = id.Certificate.Member()
		writeIdentity(t, h.Dir, id)
		c.members = append(c.members, h)
	}
	return c
}

// start runs a member until it is up. It listens where it did before, and
// knows the addresses of those started earlier.
func (c *crew) start(h *hand, die point, after int32) {
	c.t.Helper()
	h.Die, h.After = die, after
	h.Bootstrap = nil
	c.mu.Lock()
	for _, o := range c.members {
		if o != h && o.cmd != nil {
			h.Bootstrap = append(h.Bootstrap, o.Listen)
		}
	}
	h.up = false
	text, err := json.Marshal(h.life)
	c.mu.Unlock()
	require.NoError(c.t, err)
	file := filepath.Join(h.Dir, "life.json")
	require.NoError(c.t, os.WriteFile(file, text, 0o600))
	log, err := os.OpenFile(filepath.Join(h.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(c.t, err)
	defer log.Close()
	h.cmd = exec.Command(os.Args[0])
	h.cmd.Env = append(os.Environ(), lifeVariable+"="+file)
	h.cmd.Stderr = log
	_, err = h.cmd.StdinPipe() // ends when this process does
	require.NoError(c.t, err)
	out, err := h.cmd.StdoutPipe()
	require.NoError(c.t, err)
	require.NoError(c.t, h.cmd.Start())
	exited := make(chan struct{})
	h.exited = exited
	go func() {
		c.listen(h, out)
		_ = h.cmd.Wait()
		close(exited)
	}()
	c.until(h.name+" is up", func() bool { return h.up })
}

// listen takes in what a member says.
func (c *crew) listen(h *hand, out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		c.mu.Lock()
		word := strings.Fields(lines.Text())
		switch {
		case len(word) == 2 && word[0] == "up":
			h.up = true
		case len(word) == 4 && word[0] == "held":
			hop, _ := strconv.ParseUint(word[2], 10, 64)
			h.hops = append(h.hops, hop)
		}
		c.mu.Unlock()
	}
}

// until waits for what members say.
func (c *crew) until(what string, holds func() bool) {
	c.t.Helper()
	if !await.Holds(time.Millisecond, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return holds()
	}) {
		require.FailNow(c.t, "never happened: "+what, "%s", c.logs())
	}
}

// logs are the last lines of each member's log.
func (c *crew) logs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	const tail = 4 << 10
	var b strings.Builder
	for _, h := range c.members {
		text, _ := os.ReadFile(filepath.Join(h.Dir, "log"))
		fmt.Fprintf(&b, "--- %s %v %v\n%s\n", h.name, h.id, h.hops, bytes.ToValidUTF8(text[max(0, len(text)-tail):], nil))
	}
	return b.String()
}

// highest is the highest hop that a member has reported. Needs crew.mu.
func (h *hand) highest() uint64 {
	if len(h.hops) == 0 {
		return 0
	}
	return slices.Max(h.hops)
}

// goesOn waits until every member has had custody after a hop.
func (c *crew) goesOn(hop uint64) {
	c.t.Helper()
	c.until(fmt.Sprintf("the token goes on to everybody after hop %d", hop), func() bool {
		for _, h := range c.members {
			if h.highest() <= hop {
				return false
			}
		}
		return true
	})
}

// awaitDeath waits until a member has killed itself.
func (c *crew) awaitDeath(h *hand) {
	c.t.Helper()
	await.Next(c.t, "the death of "+h.name, h.exited)
	if how := h.cmd.ProcessState.String(); how != "signal: killed" {
		require.FailNow(c.t, h.name+" ends by itself: "+how, "%s", c.logs())
	}
}

func (c *crew) killAll() {
	for _, h := range c.members {
		if h.cmd != nil && h.cmd.Process != nil {
			_ = h.cmd.Process.Kill()
			<-h.exited
		}
	}
}

// journals reads what all members have on disk.
func (c *crew) journals() *chronicle {
	c.t.Helper()
	dirs, ids := make(map[string]string), make(map[ident.Member]string)
	for _, h := range c.members {
		dirs[h.name], ids[h.id] = filepath.Join(h.Dir, "state", "journal"), h.name
	}
	return readJournals(c.t, dirs, ids)
}

// theToken is the only token that there ever was.
func (c *chronicle) theToken(t testing.TB) ident.Token {
	t.Helper()
	require.Equal(t, 1, len(c.tokens), "tokens ever made")
	require.Zero(t, c.dropped, "tokens dropped")
	return slices.Collect(maps.Keys(c.tokens))[0]
}
