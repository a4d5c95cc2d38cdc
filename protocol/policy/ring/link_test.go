package ring

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crossing is a ring whose links are not FIFO: the token may overtake requests.
// Requests never overtake the token, if keeps is set, as with an Agent's messages.
type crossing struct {
	stations [crossingMax]Station
	links    [crossingMax]lane // from each station to the next one
}

const (
	crossingMax = 3
	// laneMax bounds the requests on a link: there may be any number of them that
	// the token has overtaken.
	laneMax = 2
)

// lane is what is in transit on one link. Requests are anonymous: their number
// says all.
type lane struct {
	before, behind int // requests sent before the token, and after it
	token          bool
	baton          Baton
}

type crossings struct {
	n       int
	keeps   bool
	seen    map[crossing]int // 1: being looked at, 2: done
	todo    []crossing       // seen, and nobody has begun to need the token
	stuck   int              // states in which somebody waits and nothing will happen
	cycles  int              // of states without a new request
	overlap int
}

// output puts on the link what a station says.
func (l *lane) output(out Output) {
	switch {
	case out.Pass:
		l.token, l.baton = true, out.Baton
	case out.Request && l.token:
		l.behind++
	case out.Request:
		l.before++
	}
}

// moves calls with everything that may happen next beside a new need.
func (c *crossings) moves(x crossing, with func(crossing)) {
	for p := range c.n {
		next := (p + 1) % c.n
		if l := x.links[p]; l.token {
			y := x
			y.links[p] = lane{before: l.before + l.behind}
			y.links[next].output(y.stations[next].Arrive(l.baton, c.n))
			with(y)
		}
		if l := x.links[p]; l.before > 0 || !c.keeps && l.behind > 0 {
			y := x
			if l.before > 0 {
				y.links[p].before--
			} else {
				y.links[p].behind--
			}
			y.links[next].output(y.stations[next].Request(c.n))
			with(y)
		}
		if x.stations[p].Inside() {
			y := x
			y.links[p].output(y.stations[p].Exit(c.n))
			with(y)
		}
	}
}

// look visits all that can follow a state.
func (c *crossings) look(x crossing) {
	if c.seen[x] != 0 {
		return
	}
	for _, l := range x.links {
		if l.before+l.behind > laneMax {
			return
		}
	}
	c.seen[x] = 1
	c.todo = append(c.todo, x)
	inside, waits, next := 0, 0, 0
	for p := range c.n {
		if x.stations[p].Inside() {
			inside++
		}
		if x.stations[p].Waits() {
			waits++
		}
	}
	if inside > 1 {
		c.overlap++
	}
	c.moves(x, func(y crossing) {
		next++
		if c.seen[y] == 1 {
			c.cycles++
		}
		c.look(y)
	})
	if next == 0 && waits > 0 {
		c.stuck++
	}
	c.seen[x] = 2
}

// explore looks at all schedules: in each state anybody may begin to need the
// token.
func explore(alg Algorithm, n int, keeps bool) *crossings {
	c := &crossings{n: n, keeps: keeps, seen: map[crossing]int{}}
	var x crossing
	for p := range x.stations {
		x.stations[p] = NewStation(alg)
	}
	x.stations[0].Return(Baton{}, n)
	c.look(x)
	for len(c.todo) > 0 {
		last := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		for p := range n {
			y := last
			y.links[p].output(y.stations[p].Need(n))
			c.look(y)
		}
	}
	return c
}

// TestToken_OvertakesRequest_Served: in all schedules of small rings with few requests
// on a link, one that the token overtakes does no harm; with D and E one that
// overtakes the token leaves a processor waiting without end. This is why an Agent's
// requests name the token that went before them, and nothing more.
func TestToken_OvertakesRequest_Served(t *testing.T) {
	for _, alg := range []Algorithm{Q, D, E} {
		for n := 2; n <= 3; n++ {
			c := explore(alg, n, true)
			require.GreaterOrEqual(t, len(c.seen), 20)
			assert.Zero(t, c.overlap)
			assert.Zero(t, c.stuck, "%v, n = %d", alg, n)
			assert.Zero(t, c.cycles, "%v, n = %d: it comes to rest", alg, n)
			t.Logf("%v, n = %d: %d states", alg, n, len(c.seen))
		}
	}
	for _, alg := range []Algorithm{D, E} {
		assert.Positive(t, explore(alg, 3, false).stuck, "%v without the condition", alg)
	}
}
