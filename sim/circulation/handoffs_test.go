package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// A pass waits for what is left of OFFER and ACCEPT when it begins: all of it when
// nobody was asked before, or somebody else.
func TestPass_Reserving_WaitsForTheRest(t *testing.T) {
	const way = 10 * time.Millisecond
	const anybody, nobody = -1, -2
	for name, c := range map[string]struct {
		prepared int           // who is asked when the token is made
		used     time.Duration // until it is passed on to m1
		want     time.Duration // from then to the arrival
	}{
		"nobody was asked":        {nobody, time.Second, 3 * way},
		"long before":             {1, time.Second, way},
		"just in time":            {1, 2 * way, way},
		"half of the way":         {1, way, 2 * way},
		"at the same time":        {1, 0, 3 * way},
		"somebody else was asked": {2, time.Second, 3 * way},
		"anybody was asked":       {anybody, time.Second, 3 * way},
	} {
		t.Run(name, func(t *testing.T) {
			var arrived clock.Instant
			s := newStage(t, Config{Members: 3, Passing: Constant(way), Telling: Constant(way), Reserving: Constant(2 * way)}, nil)
			var token policy.Event
			s.answer = func(m int, now clock.Instant, e *policy.Event) []policy.Action {
				switch {
				case e.Kind == policy.Generated:
					token = *e
					s.due[m] = now.Add(c.used)
					prepare := policy.Action{Kind: policy.Prepare, Token: e.Token.ID}
					switch c.prepared {
					case nobody:
						return nil
					case anybody:
						return []policy.Action{prepare}
					}
					prepare.To = MemberID(c.prepared)
					again := prepare
					return []policy.Action{prepare, again}
				case e.Kind == policy.Timer && token.Kind == policy.Generated:
					token.Kind = 0
					return pass(&token, 1, "")
				case e.Kind == policy.Arrival:
					arrived = now
				}
				return nil
			}
			s.Run(0)
			s.Generate(0)
			s.run(10 * time.Second)
			assert.Equal(t, clock.Instant(c.used+c.want), arrived)
		})
	}
}

// Who accepted before a pass has accepted nothing of the next one.
func TestPass_NextHolder_ReservesAnew(t *testing.T) {
	const way = 10 * time.Millisecond
	s := newStage(t, Config{Members: 2, Passing: Constant(way), Reserving: Constant(2 * way)}, onToken(func(m int, e *policy.Event) []policy.Action {
		if e.Kind == policy.Arrival && e.Token.Hop == 2 {
			return nil
		}
		return pass(e, 1-m, "")
	}))
	s.Generate(0)
	assert.Equal(t, []string{
		`30ms m1 arrival from m0 g0 hop1 ""`, `30ms m0 delivered g0 hop0 ""`, `60ms m0 arrival from m1 g0 hop2 ""`, `60ms m1 delivered g0 hop1 ""`,
	}, s.run(time.Minute, "generated"))
}

// Connections are between pairs, and close after a while without use.
func TestTraffic_Connections_CloseWhenIdle(t *testing.T) {
	s := newStage(t, Config{Members: 3, IdleTimeout: 30 * time.Second}, nil)
	say := func(at time.Duration, from, to int) {
		s.At(clock.Instant(at), func(w *Simulation) { w.agents.act(int32(from), &policy.Action{Kind: policy.Tell, To: MemberID(to)}) })
	}
	say(0, 0, 1)
	say(20*time.Second, 1, 0) // the same one
	say(21*time.Second, 0, 2)
	say(40*time.Second, 0, 0) // nobody
	say(60*time.Second, 0, 1) // it was closed at 50 s
	s.Run(clock.Instant(time.Hour))
	traffic := s.Traffic()
	assert.Equal(t, uint64(3), traffic.Connections)
	assert.Equal(t, 50*time.Second+30*time.Second+30*time.Second, traffic.Connected)

	s = newStage(t, Config{Members: 40, IdleTimeout: time.Second}, nil)
	for i := range 10_000 {
		s.agents.act(int32(i%40), &policy.Action{Kind: policy.Tell, To: MemberID(i / 40 % 40)})
		s.Run(s.Now().Add(100 * time.Millisecond))
	}
	assert.Less(t, len(s.network.contacts.used), 200, "those that are closed are forgotten")
	assert.Zero(t, newStage(t, Config{Members: 2}, nil).Traffic().Connections)
}
