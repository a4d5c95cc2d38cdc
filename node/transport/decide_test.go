package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDecide(t *testing.T) {
	one, two := process{1}, process{2}
	accepted := func(p process, ordinal uint64) link { return link{confirmed: true, process: p, ordinal: ordinal} }
	dialled := func(p process, ordinal uint64) link {
		return link{dialled: true, confirmed: true, process: p, ordinal: ordinal}
	}
	for _, c := range []struct {
		name            string
		old, new        link
		smaller, larger bool // whether the new one is taken, when self is the smaller or the larger id
	}{
		{"the peer is a new process", accepted(one, 9), accepted(two, 1), true, true},
		{"the peer is a new process, we dialled", dialled(one, 9), accepted(two, 1), true, true},
		{"the peer gave its first dial up", accepted(one, 1), accepted(one, 2), true, true},
		{"the peer's dials overtook each other", accepted(one, 2), accepted(one, 1), false, false},
		{"the peer used our dial and gave it up", dialled(one, 1), accepted(one, 2), true, true},
		{"at once, our dial is answered already", dialled(one, 2), accepted(one, 1), false, true},
		{"at once, our dial is not answered", link{dialled: true}, accepted(one, 1), false, true},
	} {
		assert.Equal(t, c.smaller, decide(true, c.old, c.new), "%s, self is smaller", c.name)
		assert.Equal(t, c.larger, decide(false, c.old, c.new), "%s, self is larger", c.name)
	}
}

// model is two members and the messages between them, as decide sees them:
// every dial is a connection on which each side may write one preamble; all
// messages arrive, but at any time and, on different connections, in any order.
type model struct {
	ordinal [2]uint64
	current [2]int // index of the connection in use, or -1
	conns   []modelConn
}

type modelConn struct {
	dialler int
	ordinal [2]uint64 // of the preamble written by each side; 0: none
	seen    [2]bool   // each side has read the other's preamble
	closed  [2]bool   // each side has closed, or learned that the other has
}

// link is connection i as side sees it.
func (m *model) link(side, i int) link {
	c := m.conns[i]
	l := link{dialled: c.dialler == side, confirmed: c.seen[side]}
	if l.confirmed {
		l.ordinal = c.ordinal[1-side]
	}
	return l
}

func (m *model) write(side, i int) {
	m.ordinal[side]++
	m.conns[i].ordinal[side] = m.ordinal[side]
}

func (m *model) close(side, i int) {
	m.conns[i].closed[side] = true
	if m.current[side] == i {
		m.current[side] = -1
	}
}

// handshake: the dialler has finished, and uses the connection unless it has one.
func (m *model) handshake(i int) {
	side := m.conns[i].dialler
	if m.current[side] >= 0 {
		m.close(side, i)
		return
	}
	m.current[side] = i
	m.write(side, i)
}

// arrive: the preamble of the dialler, or of the acceptor, is read.
func (m *model) arrive(side, i int) {
	c := &m.conns[i]
	c.seen[side] = true
	if c.dialler == side {
		return
	}
	old := m.current[side]
	if old >= 0 && !decide(side == 0, m.link(side, old), m.link(side, i)) {
		m.close(side, i)
		return
	}
	if old >= 0 {
		m.close(side, old)
	}
	m.current[side] = i
	m.write(side, i)
}

// steps are what can happen next.
func (m *model) steps() (s []func()) {
	for i := range m.conns {
		c := &m.conns[i]
		if c.ordinal[c.dialler] == 0 && !c.closed[c.dialler] {
			s = append(s, func() { m.handshake(i) })
		}
		for side := range 2 {
			if c.ordinal[1-side] > 0 && !c.seen[side] && !c.closed[side] {
				s = append(s, func() { m.arrive(side, i) })
			}
			if c.closed[1-side] && !c.closed[side] {
				s = append(s, func() { m.close(side, i) })
			}
		}
	}
	return s
}

// TestDialsSettle lets both sides dial, close and dial again in any order of
// events: when everything has arrived, both use the same connection or none.
func TestDialsSettle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{current: [2]int{-1, -1}}
		for range rapid.IntRange(1, 12).Draw(t, "dials and closes") {
			side := rapid.IntRange(0, 1).Draw(t, "side")
			if cur := m.current[side]; cur >= 0 && rapid.Bool().Draw(t, "close") {
				m.close(side, cur)
			} else {
				m.conns = append(m.conns, modelConn{dialler: side})
			}
			for range rapid.IntRange(0, 6).Draw(t, "meanwhile") {
				if s := m.steps(); len(s) > 0 {
					s[rapid.IntRange(0, len(s)-1).Draw(t, "next")]()
				}
			}
		}
		for s := m.steps(); len(s) > 0; s = m.steps() {
			s[rapid.IntRange(0, len(s)-1).Draw(t, "next")]()
		}
		require.Equal(t, m.current[0], m.current[1], "%+v", m)
	})
}

func TestPreamble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := preamble{Ordinal: rapid.Uint64().Draw(t, "ordinal"), Keep: rapid.Bool().Draw(t, "keep")}
		copy(p.Process[:], rapid.SliceOfN(rapid.Byte(), processSize, processSize).Draw(t, "process"))
		body, err := p.encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), maxPreamble)
		back, err := parsePreamble(body)
		require.NoError(t, err)
		require.Equal(t, p, back)

		i := rapid.IntRange(0, len(body)-1).Draw(t, "cut")
		_, err = parsePreamble(body[:i])
		require.ErrorIs(t, err, ErrProtocol)
	})
	body := must(preamble{Process: process{0xab}, Ordinal: 7, Keep: true}.encode())
	require.Equal(t, "82008350ab00000000000000000000000000000007f5", fmt.Sprintf("%x", body))
}

func TestBucket(t *testing.T) {
	b := newBucket(10, 2, 0)
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {0, true}, {0, false}, {99 * time.Millisecond, false}, {100 * time.Millisecond, true},
		{150 * time.Millisecond, false}, {time.Hour, true}, {time.Hour, true}, {time.Hour, false},
		{0, false}, // a clock that steps back gives nothing
	} {
		assert.Equal(t, c.want, b.take(c.at), "at %v", c.at)
	}
	b = newBucket(10, 2, 0)
	assert.Zero(t, b.debt(2, 0))
	assert.Equal(t, 100*time.Millisecond, b.debt(1, 0))
	assert.Equal(t, 200*time.Millisecond, b.debt(2, 100*time.Millisecond))
}

func TestNoticesAreLoggedOncePerInterval(t *testing.T) {
	inBubble(t, 1, 0, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		for range 100 {
			a.notices.note(ErrExpired, "remote", "somebody")
		}
		a.notices.note(ErrNoCertificate)
		assert.Equal(t, 1, a.log.lines(ErrExpired.Error()))
		assert.Equal(t, 1, a.log.lines(ErrNoCertificate.Error()))
		time.Sleep(noticeInterval)
		a.notices.note(ErrExpired)
		assert.Equal(t, 2, a.log.lines(ErrExpired.Error()))
		assert.Equal(t, 1, a.log.lines("unlogged=99"))
		assert.Equal(t, uint64(101), a.Stats().Refused[ErrExpired.Error()])
	})
}

func TestCodes(t *testing.T) {
	for code := range Code(len(codeErrors)) {
		err := &CloseError{Code: code, Remote: true}
		require.ErrorIs(t, err, code.err())
		require.NotErrorIs(t, err, ErrLost)
	}
	require.ErrorIs(t, &CloseError{Code: 99}, ErrLost)
	require.Equal(t, uint64(5), uint64(CodeRevoked), "on the wire")
}
