package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

func TestCutOff(t *testing.T) {
	at := func(s int) clock.Instant { return clock.Instant(s) * clock.Instant(time.Second) }
	for name, c := range map[string]struct {
		contact, failed, now int
		want                 bool
	}{
		"nobody was ever heard of":                  {0, 0, 100, true},
		"connections were closed when idle":         {50, 0, 100, false},
		"a failure was followed by contact":         {50, 40, 100, false},
		"nobody answers any more":                   {50, 70, 100, true},
		"one peer is away, others were here lately": {90, 95, 100, false},
	} {
		assert.Equal(t, c.want, cutOff(at(c.contact), at(c.failed), at(c.now)), name)
	}
}

// What is no answer, what is one, and what says nothing about the peer.
func TestUnreachable(t *testing.T) {
	silent, refused := member.Unreachable{Silent: true}, member.Unreachable{Refused: true}
	for _, c := range []struct {
		err  error
		want member.Unreachable
	}{
		{transport.ErrUnresponsive, silent},
		{transport.ErrRestarted, refused},
		{transport.ErrRefused, refused},
		{transport.ErrOverload, refused},
		{&transport.CloseError{Code: transport.CodeProtocol, Remote: true}, refused},
		{&transport.CloseError{Code: transport.CodeProtocol}, member.Unreachable{}},
		{transport.ErrBackOff, member.Unreachable{}},
		{transport.ErrBusy, member.Unreachable{}},
		{transport.ErrNoAddress, member.Unreachable{}},
		{transport.ErrLost, member.Unreachable{}},
		{transport.ErrWrongMember, member.Unreachable{Silent: true}},
	} {
		assert.Equal(t, c.want, unreachable(ident.Member{}, fmt.Errorf("dial: %w", c.err)), c.err)
	}
}
