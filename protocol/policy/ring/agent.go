package ring

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// Agent is a Station as the policy of one slot at one member, over a network
// that loses messages, tokens and members. It implements policy.Policy; once its buffers
// have grown it does not allocate. Not safe for concurrent use.
//
// The ring is the order of member ids, but for members that only dial out, which are
// kept apart (rule P-17). The driver names the next one with
// policy.Neighbour; everything goes to that one. A member without a neighbour
// keeps the token and runs whenever it has demand.
//
//	Arrival                 Station.Arrive, then the requests that waited for it
//	Generated, Resumed      Station.Return, with a tour
//	DemandChanged           Station.Need, Station.Withdraw
//	OperationEnded          Station.Exit; more demand is a new request
//	PassEnded(Returned)   Station.Return with what was to be passed
//	Message                 Station.Request, as soon as its condition is met
//	Neighbour               what the last one was told is told the new one
//	Timer                   Pass what rests, repeat a request
//
// # What holds only without faults
//
// What is proved or counted of a Station holds while no message, no token and no
// member is lost, nobody withdraws, and the neighbours stay as they are: one
// token, at most one operation at a time, everybody is served, and the bounds on
// messages (e: 2n-2 for a request, 3n-3 from a request to its service). The bounds
// also need that no token overtakes a request, which may cost a tour in vain.
//
// A repeated request costs up to n-1 messages more; another neighbour up to n, and
// a tour of the token; a token that is made a tour. With two tokens two
// members may run at a time, until the tokens have met. A token whose custody is
// in doubt when its neighbour changes may be overtaken by a request: who waits for
// it then asks again.
//
// # Faults, and what becomes of them
//
// A lost request: after request_timeout it is repeated, through the stations that
// have sent one on already (M_p), as often as needed. They themselves believe in
// a request that they have sent on for as long as that.
//
// A request that overtakes the token would be stopped by a chain of stations that
// leads back to itself: the token rests, and nobody wakes it. So a request waits
// at the receiver for the token that was passed before it (message, held). One
// that the token overtakes does no harm: it is sent on behind the token, or wakes
// it for a tour in vain; every station that it has passed has told the next one
// since the token left, which is all that M_p = 1 has to mean.
//
// A lost token: an agent makes none. The slot's keeper does, which is around each agent
// (package keeper). Until a token comes who has asked repeats its request, even if it
// needs the token no more.
//
// Two tokens: of two at one member, or one here and one that was here less than
// freshness ago, the one with precedence stays, which is the later one, then that of
// the smaller id. To make them meet, a token goes once around when it was
// made, when it comes out of a restart, and when some member
// gets another neighbour, as when two parts of a ring have found each other again.
//
// A member that passes over others: the member to which it passes the token sends it back to the
// first of them (P-83), but not twice in a row.
//
// A member that lies: it can send the token around, as whoever asks does, and keep
// requests from those behind it. What it says to all others goes once around in half of request_timeout,
// but with q, where each request counts, every message does: it is for members that
// trust each other.
//
// A field or message that nobody of this package has written: a token without a
// baton visits all others once, as nobody knows who waits for it; a message is
// ignored.
type Agent struct {
	host.Talker
	constants
	alg     Algorithm
	station Station

	n        int          // members, this one among them; 1 without a neighbour
	next     ident.Member // neighbour; zero: none
	told     bool         // a neighbour was told of
	prepared ident.Member // to whom the token that is in use will go

	wentBack   bool // the token that came last has gone back to a member that was passed over
	unanswered bool // it has asked for the token, and none was here since

	due      clock.Instant // a token that rests here goes on
	again    clock.Instant // demand that could not be met is tried anew
	repeatAt clock.Instant // a request that is not answered is repeated
	missed   clock.Instant // the token goes around, if no request has come
	marked   clock.Instant // a request was sent last
	repeated news          // requests of others that were repeated

	tokens tokens
	link   message // what was passed to next last, while that is in doubt
	held   [heldMax]held
}

// longAgo is an Instant before all others, with room to count on from it.
const longAgo = -clock.Never / 2

var presets = map[string]Algorithm{"": E, "e": E, "s": S, "q": Q, "d": D}

var _ policy.Policy = (*Agent)(nil)

// New makes an agent that is alone and has seen nothing. Params.Preset is the
// algorithm: e, which is also the default, s, q or d.
// Errors: policy.ErrPreset and those of policy.Params.Validate.
func New(params policy.Params) (*Agent, error) {
	alg, ok := presets[params.Preset]
	if !ok {
		return nil, fmt.Errorf("%w %q, known are e, s, q, d", policy.ErrPreset, params.Preset)
	}
	if err := params.Validate(); err != nil {
		return nil, err
	}
	return &Agent{
		constants: derive(params), alg: alg, station: NewStation(alg), n: 1,
		due: clock.Never, again: clock.Never, repeatAt: clock.Never, missed: clock.Never,
		marked: longAgo, repeated: news{at: longAgo},
	}, nil
}

// Step implements policy.Policy. It answers with at most actionsMax actions.
func (a *Agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	a.Begin(now, &event, actions)
	switch event.Kind {
	case policy.Recalled:
		a.tokens.see(&event.Token, a.RecalledAt(&event))
	case policy.Arrival:
		a.arrive(&event)
	case policy.Generated:
		a.generated(&event.Token)
	case policy.Resumed:
		a.resumed(&event.Token)
	case policy.PassEnded:
		a.settled(&event)
	case policy.OperationEnded:
		a.ended(&event)
	case policy.DemandChanged:
		a.demanded(event.Demand)
	case policy.Wanted:
		a.wanted()
	case policy.Neighbour:
		a.neighbour(event.From, event.Members)
	case policy.Message:
		a.message(&event)
	case policy.Timer:
		a.timer()
	}
	return a.Answer()
}

// actionsMax bounds the answer to one event: two tokens are dropped, one runs or is
// passed on, at most twice and prepared for each time; and the messages behind
// held requests, one of this member itself and one to a new neighbour.
const actionsMax = 2 + 2*2 + (heldMax + 2)

// timer does what is due.
func (a *Agent) timer() {
	if a.Now >= a.again {
		a.need()
	}
	if a.Now >= a.due {
		a.due = clock.Never
		a.apply(a.station.proceed(a.n), 0)
	}
	a.release()
	if a.Now >= a.missed {
		a.missed = clock.Never
		a.tour()
	}
	if a.unanswered && a.alg != S && a.Now >= a.repeatAt {
		a.repeatAt = a.Now.Add(a.requestTimeout)
		a.station.repeat(a.n)
		a.tell(repeat, 1, others(a.n))
	}
}

// wanted notes that somebody waits, as is said. While programs run here one after the other, its request is
// lost. While the token rests, it may be on its way.
func (a *Agent) wanted() {
	switch {
	case a.station.Inside():
		a.tour()
	case a.station.holds() && a.missed == clock.Never:
		a.missed = a.Now.Add(a.patience)
	}
}

// waits reports whether this member needs the token and has not got it.
func (a *Agent) waits() bool { return a.station.Waits() }

// Deadline implements policy.Policy.
func (a *Agent) Deadline() clock.Instant {
	next := min(a.due, a.again, a.missed)
	if a.unanswered && a.alg != S {
		next = min(next, a.repeatAt)
	}
	for i := range a.held {
		if !a.held[i].from.IsZero() {
			next = min(next, a.held[i].since.Add(a.requestTimeout))
		}
	}
	return next
}
