package transport

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/memnet"
	"github.com/wandertoken/wander/protocol/ident"
)

// maxReturn is after what time a member is back that died or froze at any instant of
// connecting. On the virtual network a datagram takes instantDelay.
const (
	maxReturn    = time.Second
	instantDelay = 20 * time.Millisecond
)

// atRest is after what time a connection whose members have nothing to say brings no
// more datagrams, but for keep-alives.
const atRest = time.Second

// instants is how many datagrams an undisturbed dial takes until both sides have heard
// each other's first frame, and a few more.
func instants(t *testing.T) (n int) {
	inBubble(t, 1, instantDelay, func(t *testing.T, b *bubble) {
		a, z := b.node("a", nil), b.node("z", nil)
		greetBoth(a, z)
		a.Send(z.Self(), Custody, []byte("hello, from the dialler"))
		a.wait(frame("HELLO"), 1)
		z.wait(frame("HELLO"), 1)
		n = b.net.Sent() + 2
	})
	require.Greater(t, n, 5)
	return n
}

// greetBoth makes members say HELLO on each connection.
func greetBoth(list ...*node) {
	for _, n := range list {
		n.onUp = func(m ident.Member) { n.Send(m, Custody, []byte("HELLO")) }
	}
}

// speak has a member send a frame to another again and again, as members do, until it
// is told to stop.
func speak(from, to *node, body string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			from.Send(to.Self(), Custody, []byte(body))
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}

// accident is one case: at which instant of a dial which side is struck.
type accident struct {
	instant        int
	dialler        bool // is struck; else the acceptor
	smaller        bool // the id of the one that is struck
	both           bool // speak afterwards; else only the one that was struck
	struck, others *node
	socket         *memnet.Socket
}

func (c accident) String() string {
	return fmt.Sprintf("instant %d, dialler=%v, smaller=%v, both speak=%v", c.instant, c.dialler, c.smaller, c.both)
}

// eachAccident runs f for every instant, side, order of ids and speaker; the strike is
// called at the instant.
func eachAccident(t *testing.T, strike func(*memnet.Socket), f func(*testing.T, *bubble, accident)) {
	n := instants(t)
	for i := range n * 8 {
		c := accident{instant: i/8 + 1, dialler: i&1 > 0, smaller: i&2 > 0, both: i&4 > 0}
		t.Run(c.String(), func(t *testing.T) {
			inBubble(t, 1, instantDelay, func(t *testing.T, b *bubble) {
				c.socket = b.net.socket()
				c.struck = b.open(b.t, b.book, c.socket, "struck", nil)
				c.others = b.node(b.nameFor(c.struck, c.smaller), nil)
				greetBoth(c.struck, c.others)
				var once sync.Once
				struck := make(chan struct{})
				b.net.After(c.instant, func() { once.Do(func() { strike(c.socket); close(struck) }) })
				from, to := c.others, c.struck
				if c.dialler {
					from, to = to, from
				}
				greeting := []byte("hello, from the dialler")
				from.Send(to.Self(), Custody, greeting)
				for !within(struck, atRest) { // this dial took fewer datagrams than there are instants
					from.Send(to.Self(), Custody, greeting)
				}
				f(t, b, c)
			})
		})
	}
}

// within reports whether something happens before a time has passed.
func within(happens <-chan struct{}, limit time.Duration) bool {
	select {
	case <-happens:
		return true
	case <-time.After(limit):
		return false
	}
}

// nameFor is a name whose member has a greater id than n, or a smaller one.
func (b *bubble) nameFor(n *node, greater bool) string {
	for i := 0; ; i++ {
		name := fmt.Sprint("other", i)
		if _, cert := b.member(b.t, name, nil); (cert.Member().Compare(n.Self()) > 0) == greater {
			return name
		}
	}
}

// TestRestart_AtEachInstantOfADial_BackWithinASecond kills one side of a dial after each
// datagram, and starts it again at its address.
func TestRestart_AtEachInstantOfADial_BackWithinASecond(t *testing.T) {
	var worst time.Duration
	eachAccident(t, cut, func(t *testing.T, b *bubble, c accident) {
		time.Sleep(200 * time.Millisecond) // a process takes so long to start, at least
		again := b.open(b.t, b.book, b.net.rebind(c.socket), "struck", nil)
		greetBoth(again)
		took := since(func() {
			defer speak(again, c.others, "I am back")()
			if c.both {
				defer speak(c.others, again, "welcome")()
				again.wait(frame("welcome"), 1)
			}
			c.others.wait(frame("I am back"), 1)
			again.wait(frame("HELLO"), 1)
		})
		worst = max(worst, took)
		assert.Less(t, took, maxReturn)
		b.agree(t, again, c.others)
	})
	t.Logf("at most %v", worst)
}

// agree looks whether two members use one connection, when nothing is in progress.
func (b *bubble) agree(t *testing.T, x, y *node) {
	time.Sleep(DefaultSilence + PreambleTimeout) // what is dead is closed
	assert.Equal(t, 1, x.Stats().Connections)
	assert.Equal(t, 1, y.Stats().Connections)
	xDialled, _ := x.using(y.Self())
	yDialled, _ := y.using(x.Self())
	assert.NotEqual(t, xDialled, yDialled, "both use the same connection")
	x.Send(y.Self(), Custody, []byte("still there?"))
	y.Send(x.Self(), Custody, []byte("still there?"))
	x.wait(frame("still there?"), 1)
	y.wait(frame("still there?"), 1)
	assert.Equal(t, x.count(kind("connected")), x.count(kind("disconnected"))+1)
	assert.Equal(t, y.count(kind("connected")), y.count(kind("disconnected"))+1)
}

// TestFreeze_AtEachInstantOfADial_BackWithinASecond stops one side of a dial after each
// datagram, for shorter and longer than a handshake may take, and lets it go on.
func TestFreeze_AtEachInstantOfADial_BackWithinASecond(t *testing.T) {
	for _, pause := range []time.Duration{HandshakeTimeout / 2, 2 * DefaultSilence} {
		var worst time.Duration
		eachAccident(t, (*memnet.Socket).Freeze, func(t *testing.T, b *bubble, c accident) {
			time.Sleep(pause)
			c.socket.Thaw()
			took := since(func() {
				defer speak(c.struck, c.others, "I am back")()
				if c.both {
					defer speak(c.others, c.struck, "welcome")()
					c.struck.wait(frame("welcome"), 1)
				}
				c.others.wait(frame("I am back"), 1)
				c.struck.wait(frame("HELLO"), 1)
			})
			worst = max(worst, took)
			assert.Less(t, took, maxReturn)
			b.agree(t, c.struck, c.others)
		})
		t.Logf("after a pause of %v at most %v", pause, worst)
	}
}

// TestRestart_AgainAndAgainBeforeThePreamble_NotLockedOut kills a dialler many times
// when its handshake has ended.
func TestRestart_AgainAndAgainBeforeThePreamble_NotLockedOut(t *testing.T) {
	inBubble(t, 1, instantDelay, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		for range 3 * MaxUnready {
			_, _, err := newRaw(t, b.net.socket(), *must(tlsCertificate(key, cert, nil))).dial(a)
			require.NoError(t, err)
		}
		z := b.node("z", nil)
		took := since(func() {
			z.Send(a.Self(), Custody, []byte("I am back"))
			a.wait(frame("I am back"), 1)
		})
		assert.Less(t, took, maxReturn)
	})
}
