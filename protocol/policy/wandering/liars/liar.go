package liars

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

// Lie is in what a member that follows the preset fair otherwise does not.
type Lie uint8

const (
	// Starved says of itself and its accomplices that they have waited longest:
	// in reports, in answers, on tokens, and to their witnesses. It operates however
	// short a time ago it did.
	Starved Lie = iota + 1
	// Shirking wants the token and never operates.
	Shirking
	// Denying denies to have seen any token.
	Denying
	// Inventing tells others again and again of a token that does not exist and is later
	// than all others.
	Inventing
	// Marking says of others, as often as it is believed, that they were served just now.
	Marking
)

// repetition is how often an invented token is told of: the least freshness.
const repetition = 30 * time.Second

// liar is an honest member with something in between. It implements policy.Policy.
type liar struct {
	honest policy.Policy
	lie    Lie
	self   ident.Member
	roster policy.Roster
	about  []ident.Member

	timekeepers int // of each member (P-41)

	pause time.Duration // between two campaigns of Inventing and Marking
	next  clock.Instant // when the next one begins
	named int           // the accomplice on the last token
	buf   []ident.Member
}

// New makes a policy that lies about some members: under Starved all accomplices,
// itself among them; under Inventing those that it tells; under Marking those whom it
// would starve. Errors: those of wandering.New.
func New(params policy.Params, in policy.Surroundings, lie Lie, about []ident.Member) (policy.Policy, error) {
	params.Preset = wandering.Fair
	made, err := wandering.New(params, in)
	if err != nil {
		return nil, err
	}
	honest := keeper.Around(made, params, in, true)
	l := &liar{honest: honest, lie: lie, self: in.Self, roster: in.Roster, about: about, pause: repetition, timekeepers: wandering.Timekeepers(params)}
	if l.roster == nil {
		l.roster = policy.Alone{}
	}
	if lie == Marking {
		l.pause = params.MinInterval
		if l.pause == 0 {
			l.pause = papers.MinInterval(params.OperationTime, params.MembersMax)
		}
		l.pause = l.pause/4 + time.Millisecond
	}
	return l, nil
}

// Step implements policy.Policy.
func (l *liar) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	ended := event.Kind == policy.OperationEnded && event.Operated
	if l.lie == Starved {
		event.Operated = false // so that it may again at once
	}
	first := len(actions)
	actions = l.honest.Step(now, event, actions)
	if l.lie == Shirking {
		actions = l.shirk(now, first, actions)
	}
	kept := actions[:first]
	for _, a := range actions[first:] {
		if l.twist(&a) {
			kept = append(kept, a)
		}
	}
	switch {
	case l.lie == Starved && ended:
		return l.tellWitnesses(l.self, demandOf(math.MaxUint32/2), kept)
	case l.lie == Starved && event.Kind == policy.Message:
		return l.claim(&event, kept)
	case l.lie >= Inventing && now >= l.next:
		l.next = now.Add(l.pause)
		return l.campaign(kept)
	}
	return kept
}

// Deadline implements policy.Policy: lies wait for the next event.
func (l *liar) Deadline() clock.Instant { return l.honest.Deadline() }

// shirk does not run what it was to run, and says that it has.
func (l *liar) shirk(now clock.Instant, first int, actions []policy.Action) []policy.Action {
	i := slices.IndexFunc(actions[first:], func(a policy.Action) bool { return a.Kind == policy.Run })
	if i < 0 {
		return actions
	}
	e := policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: actions[first+i].Token}}
	kept := detach(slices.Delete(actions, first+i, first+i+1), first)
	return l.honest.Step(now, e, kept)
}

// detach keeps what actions say beyond the next step.
func detach(actions []policy.Action, first int) []policy.Action {
	for i := range actions[first:] {
		a := &actions[first+i]
		a.Field = slices.Clone(a.Field)
	}
	return actions
}

// twist changes what an honest member would do, or reports that it is left out.
func (l *liar) twist(a *policy.Action) bool {
	switch {
	case a.Kind == policy.Pass && l.lie == Starved:
		a.Field = l.field(a.Field)
	case a.Kind == policy.Tell && len(a.Field) > 0:
		return l.twistBody(a)
	}
	return true
}

func (l *liar) twistBody(a *policy.Action) bool {
	body := slices.Clone(a.Field)
	switch kind := body[0]; {
	case l.lie == Denying && kind == heard:
		return false
	case l.lie == Denying && (kind == have || kind == went):
		body = []byte{none, 0, 0, 0, 0}
	case l.lie == Starved && kind == report:
		return false // it claims instead
	case l.lie == Starved && kind == answer && slices.Contains(l.about, ident.Member(body[answerMember:answerAge])):
		binary.BigEndian.PutUint32(body[answerAge:], math.MaxUint32/2)
		body[answerWhat] = willing
	case l.lie == Starved && kind == demand:
		binary.BigEndian.PutUint32(body[demandAge:], math.MaxUint32/2)
	default:
		return true
	}
	a.Field = body
	return true
}

// claim reports accomplices to who looks: those that it is a witness of first, which
// are believed.
func (l *liar) claim(e *policy.Event, actions []policy.Action) []policy.Action {
	if len(e.Body) != lookSize || e.Body[0] != look {
		return actions
	}
	to := ident.Member(e.Body[lookMember : lookMember+memberSize])
	if to.IsZero() {
		to = e.From
	}
	body := []byte{report}
	for _, a := range l.about {
		if len(body) < 1+(reportMost-1)*waiterSize && a != to && a != l.self && slices.Contains(l.witnessesOf(a), l.self) {
			body = appendWaiter(body, a)
		}
	}
	return append(actions, policy.Action{Kind: policy.Tell, To: to, Field: appendWaiter(body, l.self)})
}

func (l *liar) witnessesOf(m ident.Member) []ident.Member {
	l.buf = l.roster.Witnesses(m, l.timekeepers, l.buf[:0])
	return l.buf
}

func (l *liar) tellWitnesses(of ident.Member, body []byte, actions []policy.Action) []policy.Action {
	for _, to := range l.witnessesOf(of) {
		if to != l.self {
			actions = append(actions, policy.Action{Kind: policy.Tell, To: to, Field: body})
		}
	}
	return actions
}

// campaign tells of a token that there is not, or of members that were not served.
func (l *liar) campaign(actions []policy.Action) []policy.Action {
	for _, m := range l.about {
		switch {
		case m == l.self:
		case l.lie == Marking:
			actions = l.tellWitnesses(m, lookOf(m, 0), actions)
		default:
			actions = append(actions, policy.Action{Kind: policy.Tell, To: m, Field: lookOf(ident.Member{}, math.MaxInt64)})
		}
	}
	return actions
}

// field puts accomplices before the candidates that a token carries.
func (l *liar) field(honest []byte) []byte {
	to := append([]byte(nil), honest[:fieldHead]...)
	for range min(len(l.about), candidatesMost/2) {
		l.named = (l.named + 1) % len(l.about)
		to = appendWaiter(to, l.about[l.named])
	}
	rest := honest[fieldHead:]
	return append(to, rest[:min(len(rest), fieldHead+candidatesMost*waiterSize-len(to))]...)
}
