package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// expect waits for a message of this type that fits, and takes care of all
// others.
func expect[M wire.Message](s *session, what string, fits func(M) bool) M {
	m, err := within(s, s.t.ctx, fits)
	switch {
	case errors.Is(err, errSilence):
		s.t.fail("no %s", what)
	case err != nil:
		s.t.fail("no %s: the connection ended: %v", what, s.reason(err))
	}
	return m
}

// within is expect until ctx ends, with receive's errors.
func within[M wire.Message](s *session, ctx context.Context, fits func(M) bool) (none M, err error) {
	for {
		m, err := s.receive(ctx)
		if err != nil {
			return none, err
		}
		if m, ok := m.(M); ok && fits(m) {
			return m, nil
		}
		s.mind(m)
	}
}

// request says something until a fitting message comes.
func request[M wire.Message](s *session, ask wire.Message, what string, fits func(M) bool) M {
	return repeat(s, ask, patience, what, fits)
}

func repeat[M wire.Message](s *session, ask wire.Message, every time.Duration, what string, fits func(M) bool) M {
	for {
		s.say(ask)
		ctx, cancel := context.WithTimeout(s.t.ctx, every)
		m, err := within(s, ctx, fits)
		cancel()
		switch {
		case err == nil:
			return m
		case !errors.Is(err, errSilence):
			s.t.fail("no %s: the connection ended: %v", what, s.reason(err))
		case s.t.ctx.Err() != nil:
			s.t.fail("no %s", what)
		}
	}
}

// mind takes care of a message that no check waits for, as an honest member would.
func (s *session) mind(m wire.Message) {
	if len(s.heard) < maxHeard {
		s.heard = append(s.heard, m)
	}
	reply, err := s.t.reply(m, s.t.open)
	s.t.check(err == nil, "answer not signed: %v", err)
	if reply != nil {
		s.say(reply)
	}
}

// receipt takes a token back, for good.
func (s *session) receipt(x token.Transfer) {
	m, err := s.t.receiptOf(x)
	s.t.check(err == nil, "answer not signed: %v", err)
	s.say(m)
}

// fence waits until the member has handled everything that was said so far: it
// asks how the directory looks around an id that nobody else asks about.
func (s *session) fence() {
	var id ident.Member
	rand.Read(id[:])
	ask := &wire.Want{Topic: wire.WantSummary, From: id, Through: id}
	repeat(s, ask, fencePatience, "answer to WANT, topic 4", func(m *wire.Summary) bool { return m.From == id })
}

// stays fails unless the connection is still served, whatever was said.
func (s *session) stays() { s.fence() }

// never fails if the member has said, or says until it has handled everything,
// what it must not.
func never[M wire.Message](s *session, what string, bad func(M) bool) {
	s.fence()
	s.listen(s.t.Quiet)
	for _, m := range s.heard {
		if m, ok := m.(M); ok && bad(m) {
			s.t.fail("%s", what)
		}
	}
}

// listen takes in what comes in some time.
func (s *session) listen(d time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.ctx, d)
	defer cancel()
	for {
		m, err := s.receive(ctx)
		if err != nil {
			return
		}
		s.mind(m)
	}
}

// whatever is for messages of which the type says enough.
func whatever[M wire.Message](M) bool { return true }
