package circulation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// stage is a Simulation whose policies are puppets, and what they were told.
type stage struct {
	*Simulation
	t   *testing.T
	log []string
	// answer is what the puppets answer.
	answer func(member int, now clock.Instant, e *policy.Event) []policy.Action
	due    map[int]clock.Instant // the puppets' deadlines
}

// puppet is the policy of one member of a stage.
type puppet struct {
	stage  *stage
	member int
}

func (p puppet) Step(now clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	p.stage.log = append(p.stage.log, fmt.Sprintf("%v m%d %s", time.Duration(now), p.member, describe(&e)))
	if e.Kind == policy.Timer {
		delete(p.stage.due, p.member)
	}
	if p.stage.answer == nil {
		return actions
	}
	return append(actions, p.stage.answer(p.member, now, &e)...)
}

func (p puppet) Deadline() clock.Instant {
	if due, waits := p.stage.due[p.member]; waits {
		return due
	}
	return clock.Never
}

// describe is an event as a line of text.
func describe(e *policy.Event) string {
	token := func(name string) string {
		if e.Operated {
			name += " operated" // which says nothing here
		}
		return fmt.Sprintf("%s g%d hop%d %q", name, memberIndex(e.Token.Generator), e.Token.Hop, e.Token.Field)
	}
	switch e.Kind {
	case policy.Arrival:
		return token(fmt.Sprintf("arrival from m%d", memberIndex(e.From)))
	case policy.Generated:
		return token("generated")
	case policy.Resumed:
		return token("resumed")
	case policy.Recalled:
		return fmt.Sprintf("recalled %v operated=%v", time.Duration(e.At), e.Operated)
	case policy.Timer:
		return "timer"
	case policy.OperationEnded:
		return fmt.Sprintf("ended operated=%v", e.Operated)
	case policy.DemandChanged:
		return fmt.Sprintf("demand %v", e.Demand)
	case policy.PassEnded:
		return token([]string{"", "delivered", "returned", "abandoned"}[e.Outcome])
	case policy.Message:
		return fmt.Sprintf("message m%d %q", memberIndex(e.From), e.Body)
	case policy.Neighbour:
		return fmt.Sprintf("neighbour m%d of %d", memberIndex(e.From), e.Members)
	case policy.Silent:
		return fmt.Sprintf("silent m%d", memberIndex(e.From))
	}
	return "unknown"
}

func newStage(t *testing.T, cfg Config, answer func(member int, now clock.Instant, e *policy.Event) []policy.Action) *stage {
	s := &stage{t: t, answer: answer, due: make(map[int]clock.Instant)}
	if cfg.Params.OperationTime == 0 {
		cfg.Params.OperationTime = time.Second
	}
	w, err := newSimulation(context.Background(), cfg, func(member int, in policy.Surroundings) (policy.Policy, error) {
		return puppet{s, member}, nil
	})
	require.NoError(t, err)
	s.Simulation = w
	return s
}

// run forgets the log, runs until an instant, and returns what was logged but
// for events of the kinds that skip begins with.
func (s *stage) run(until time.Duration, skip ...string) []string {
	s.log = nil
	s.Run(clock.Instant(until))
	var kept []string
lines:
	for _, line := range s.log {
		for _, k := range skip {
			if strings.HasPrefix(strings.SplitN(line, " ", 3)[2], k) {
				continue lines
			}
		}
		kept = append(kept, line)
	}
	return kept
}

// pass is a Pass to a member, or to anybody where that is -1.
func pass(e *policy.Event, to int, field string) []policy.Action {
	a := policy.Action{Kind: policy.Pass, Token: e.Token.ID, Field: []byte(field)}
	if to >= 0 {
		a.To = MemberID(to)
	}
	return []policy.Action{a}
}

// diary is an Observer that writes everything down.
type diary struct{ lines []string }

func (d *diary) note(now clock.Instant, format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf("%v ", time.Duration(now))+fmt.Sprintf(format, args...))
}

func (d *diary) Demanded(now clock.Instant, m int)                 { d.note(now, "m%d wants", m) }
func (d *diary) OperationBegan(now clock.Instant, m int)           { d.note(now, "m%d runs", m) }
func (d *diary) OperationEnded(now clock.Instant, m int)           { d.note(now, "m%d ran", m) }
func (d *diary) Visit(now clock.Instant, m int, _ ident.Token)     { d.note(now, "m%d visited", m) }
func (d *diary) TokenBorn(now clock.Instant, m int, _ ident.Token) { d.note(now, "m%d born", m) }
func (d *diary) TokenGone(now clock.Instant, _ ident.Token, how End) {
	d.note(now, "%s", []string{"", "dropped", "lost in transit", "lost with holder"}[how])
}
func (d *diary) MemberUp(now clock.Instant, m int)           { d.note(now, "m%d up", m) }
func (d *diary) MemberDown(now clock.Instant, m int)         { d.note(now, "m%d down", m) }
func (d *diary) WindowsChanged(now clock.Instant, open bool) { d.note(now, "open %v", open) }
func (d *diary) Advanced(now clock.Instant)                  { d.note(now, "advanced") }
