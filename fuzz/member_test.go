package fuzz

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/weigh"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// FuzzMember: one member under any inputs: messages of peers that say what is true,
// old, forged or senseless, also of those who are no members; programs; time that
// jumps; restarts. Each step does a bounded amount, says nothing that cannot be
// sent, and ends; what is kept in memory is bounded; and the journal gives the same
// custody again.
//
//fuzz:of protocol/member protocol/handoff protocol/directory protocol/update protocol/policy/...
func FuzzMember(f *testing.F) { targets["FuzzMember"].Fuzz(f) }

const (
	memberEvents = 12
	// memberRestarts bounds the restarts of a script, each of which costs as much as
	// ten other events: further ones are none.
	memberRestarts = 2
	// memberEffects bounds one step: news to every peer about every member.
	memberEffects = 600
	// memberEntries and memberBytes bound what a member keeps that knows six
	// others: the lists of updates and of what was asked are the largest part.
	memberEntries, memberBytes = 4096, 1 << 20
	memberTicks                = 100 // in a row, until nothing is due
)

// The events of a script, each a byte with what it needs behind it.
const (
	memberTick         = iota // pause, jump of the wall clock
	memberHear                // peer, message, place, change: one of those prepared, or something like it
	memberAnswer              // message that it has sent, which answer
	memberConnected           // peer
	memberUnreachable         // peer, how
	memberDisconnected        // peer
	memberDemand              // resource, for how long, once per
	memberWithdraw            // request
	memberEnded               // grant, whether it ran
	memberLearn               // object
	memberAnnounce            // how many addresses
	memberRenewed             // -
	memberLeave               // -
	memberShutdown            // -
	memberRestart             // from the journal, or from a checkpoint
	memberLate                // by how much
	memberKinds
)

// jumps are those of the wall clock.
var jumps = []time.Duration{0, 0, time.Hour, -time.Hour, 48 * time.Hour, -90 * 24 * time.Hour, 200 * 24 * time.Hour, time.Millisecond}

// memberRun is a member with what is around it.
type memberRun struct {
	require.TestingT
	*script
	cfg      member.Config
	m        *member.Member
	now      clock.Reading
	past     []journal.Stamped
	said     []effect.Send
	grants   []ident.Grant
	requests uint64
	restarts int
	stopped  bool
}

// checkMember accepts scripts that are whole. The first byte says how the member is
// made.
func checkMember(t require.TestingT, data []byte) bool {
	s := newScript(data)
	modes := s.below(16)
	if s.bad {
		return false
	}
	r := &memberRun{TestingT: t, script: s, now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: epoch.Add(time.Hour)}}
	r.cfg = member.Config{
		Group: memberGroup, Certificate: people[0].certificate, Key: people[0].key, Machine: "here", Boot: "boot",
		Durable: modes&1 == 0, Found: modes&2 == 0, NoPreOffer: modes&8 != 0, Seed: [32]byte{1},
	}
	if modes&4 != 0 {
		r.cfg.Sample = 2
	}
	m, effects, err := member.New(r.cfg, r.now)
	require.NoError(t, err)
	r.m = m
	r.perform(effects)
	for range memberEvents {
		if s.Len() == 0 || r.stopped {
			break
		}
		if in := r.event(); s.bad {
			return false
		} else if in != nil {
			r.step(in)
		}
	}
	r.ends()
	return s.Len() == 0 || r.stopped
}

func (r *memberRun) step(in member.Input) {
	effects := r.m.Step(r.now, in)
	require.NoError(r, r.m.Check())
	require.LessOrEqual(r, len(effects), memberEffects)
	r.perform(effects)
}

// perform does what a step wants, as far as it matters here.
func (r *memberRun) perform(effects []effect.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Persist:
			r.past = append(r.past, journal.Stamped{At: e.At, Record: e.Record})
		case effect.Send:
			body, err := wire.Encode(e.Message)
			require.NoError(r, err, "%T", e.Message)
			require.LessOrEqual(r, len(body), wire.MaxFrame)
			r.said = append(r.said, e)
			r.said = r.said[max(0, len(r.said)-16):]
		case effect.Grant:
			require.LessOrEqual(r, e.Deadline, r.now.Boot.Add(e.Length), "a grant that ends later than it says")
			r.grants = append(r.grants, e.Grant)
		case effect.Stop:
			r.stopped = true
		}
	}
}

// event reads the next one. It is nil for what is no input.
func (r *memberRun) event() member.Input {
	switch r.below(memberKinds) {
	case memberTick:
		d := pauses[r.below(len(pauses))]
		r.now.Boot, r.now.Wall = r.now.Boot.Add(d), r.now.Wall.Add(d).Add(jumps[r.below(len(jumps))])
		return member.Tick{}
	case memberHear:
		return r.hear()
	case memberAnswer:
		return r.answer()
	case memberConnected:
		return member.Connected{Certificate: r.peer().certificate}
	case memberUnreachable:
		p, how := r.peer(), r.among(3)
		return member.Unreachable{Peer: p.id, Silent: how == 1, Refused: how == 2}
	case memberDisconnected:
		return member.Disconnected{Peer: r.peer().id}
	case memberDemand:
		r.requests++
		resources := r.m.Settings().Resources
		in := member.Demand{Request: r.requests, Resource: "nothing", MaxHold: pauses[r.below(len(pauses))], OncePer: pauses[r.below(len(pauses))]}
		if n := r.among(len(resources) + 1); n < len(resources) {
			in.Resource = resources[n].Name
		}
		return in
	case memberWithdraw:
		return member.Withdraw{Request: uint64(r.byte())}
	case memberEnded:
		n, ran := r.among(len(r.grants)+1), r.byte()%2 == 0
		if n == len(r.grants) {
			return member.Ended{Grant: ident.Grant{9}, Operated: ran}
		}
		return member.Ended{Grant: r.grants[n], Operated: ran}
	case memberLate:
		return member.Late{By: pauses[r.below(len(pauses))]}
	case memberRestart:
		if checkpoint := r.byte()%2 == 0; r.restarts < memberRestarts {
			r.restart(checkpoint)
		}
		return nil
	}
	return r.operator(r.data())
}

// data goes one byte back, to what kind of event it is.
func (r *memberRun) data() int {
	_ = r.UnreadByte()
	return int(r.byte())
}

// operator is what the person does to whom the machine belongs.
func (r *memberRun) operator(kind int) member.Input {
	switch kind {
	case memberLearn:
		raw := memberObjects[r.among(len(memberObjects))]
		return member.Learn{
			Certificates: [][]byte{raw}, Endpoints: [][]byte{raw}, Revocations: [][]byte{raw}, Leaves: [][]byte{raw}, Configuration: raw,
		}
	case memberAnnounce:
		return member.Announce{Addresses: []string{"self.example.org:1", "other.example.org:2"}[:r.among(3)]}
	case memberRenewed:
		return member.Renewed{Certificate: renewed}
	case memberLeave:
		return member.Leave{}
	}
	return member.Shutdown{}
}

// peer is anybody but the member itself.
func (r *memberRun) peer() *person { return people[1+r.among(len(people)-1)] }

// hear is a message that was prepared, perhaps with one byte changed.
func (r *memberRun) hear() member.Input {
	from := r.peer()
	body := memberMessages[r.among(len(memberMessages))]
	place, change := int(r.byte()), r.byte()
	if change != 0 {
		body = slices.Clone(body)
		body[place*len(body)/256] ^= change
	}
	return member.Received{From: from.id, Body: body}
}

// restart makes the member anew from its journal.
func (r *memberRun) restart(checkpoint bool) {
	r.restarts++
	custody := custodyOf(r.m)
	if checkpoint {
		r.past = r.tidy()
	}
	m, effects, err := member.Restore(r.cfg, r.past, r.now)
	require.NoError(r, err)
	if dropped := droppedIn(effects); r.cfg.Durable && dropped == 0 {
		require.Equal(r, custody, custodyOf(m), "custody over a restart")
	} else if r.cfg.Durable { // of two tokens the policy keeps one, when no operation runs under the other any more
		require.Equal(r, holdings(custody)-dropped, holdings(custodyOf(m)), "custody over a restart")
	}
	r.m, r.grants = m, nil
	r.perform(effects)
}

func (r *memberRun) tidy() (past []journal.Stamped) {
	for _, record := range r.m.Checkpoint() {
		past = append(past, journal.Stamped{At: r.now.Micros(), Record: record})
	}
	return past
}

// ends checks what has to hold after all.
func (r *memberRun) ends() {
	for n := 0; r.m.NextDeadline() <= r.now.Boot && !r.stopped; n++ {
		require.Less(r, n, memberTicks, "the member wants to be called again and again")
		r.step(member.Tick{})
	}
	if w := weigh.Total(r.m); w.Entries > memberEntries || w.Bytes > memberBytes {
		require.Fail(r, "a member that keeps too much", "%+v", weigh.Of(r.m))
	}
}

// custodyOf is the part of a checkpoint that says who has which token.
func custodyOf(m *member.Member) (list []journal.Record) {
	for _, record := range m.Checkpoint() {
		switch record.(type) {
		case *journal.Held, *journal.Generated, *journal.Sent, *journal.Taken, *journal.Floor:
			list = append(list, record)
		}
	}
	return list
}

// droppedIn is how many tokens the effects drop.
func droppedIn(effects []effect.Effect) (n int) {
	for _, e := range effects {
		if persist, ok := e.(effect.Persist); ok && persist.Record.Kind() == journal.KindDropped {
			n++
		}
	}
	return n
}

// holdings is how many tokens are in custody.
func holdings(custody []journal.Record) (n int) {
	for _, record := range custody {
		switch record.(type) {
		case *journal.Held, *journal.Generated:
			n++
		}
	}
	return n
}

// answer replies to one of the last messages of the member.
func (r *memberRun) answer() member.Input {
	n, how := r.among(len(r.said)), r.among(4)
	if len(r.said) == 0 || r.bad {
		return nil
	}
	asked := r.said[n]
	i := slices.IndexFunc(people, func(p *person) bool { return p.id == asked.To })
	if i < 0 {
		return nil
	}
	reply := people[i].reply(asked.Message, how)
	if reply == nil {
		return nil
	}
	body, err := wire.Encode(reply)
	if err != nil {
		return nil
	}
	return member.Received{From: asked.To, Body: body}
}

// memberSeeds are lives of a member.
func memberSeeds() map[string][]byte {
	meet := func(p byte) []byte {
		return []byte{memberConnected, p, memberHear, p, messageHello + p, 0, 0}
	}
	circulate := slices.Concat(meet(0), []byte{
		memberDemand, 0, 3, 0, memberTick, 3, 0, memberAnswer, 15, 0, memberAnswer, 15, 1, memberEnded, 0, 0, memberTick, 4, 0,
		memberAnswer, 15, 0, memberAnswer, 14, 0, memberRestart, 1, memberTick, 6, 0,
	})
	receive := slices.Concat(meet(0), meet(2))
	for i := range byte(len(memberMessages)) {
		receive = append(receive, memberHear, i%3, i, 0, 0)
	}
	operator := slices.Concat(meet(1), []byte{
		memberAnnounce, 1, memberLearn, 0, memberLearn, 7, memberRenewed, memberTick, 7, 2, memberUnreachable, 1, 1,
		memberTick, 5, 0, memberAnswer, 3, 1, memberWithdraw, 1, memberShutdown,
	})
	leave := slices.Concat(meet(1), []byte{memberTick, 3, 0, memberAnswer, 15, 0, memberRestart, 0, memberLeave, memberTick, 3, 0})
	custody := slices.Concat(meet(0), []byte{
		memberHear, 0, messageOffer, 0, 0, memberHear, 0, messageOffer + 2, 0, 0, memberRestart, 1, memberTick, 3, 0, memberRestart, 0,
	})
	late := slices.Concat(meet(0), meet(1), []byte{
		memberUnreachable, 0, 1, memberLate, 5, memberUnreachable, 1, 1, memberTick, 4, 0, memberUnreachable, 2, 1, memberTick, 5, 0,
	})
	seeds := map[string][]byte{
		"bad-empty": {}, "bad-mode": {16}, "bad-event": {0, memberKinds}, "bad-half": {0, memberTick, 1}, "bad-pause": {0, memberTick, 99, 0},
	}
	random := rand.New(rand.NewPCG(1, 1))
	for mode := range byte(16) {
		seeds["good-circulate-"+modeName(mode)] = append([]byte{mode}, circulate...)
		most := memberEvents - 4
		from := 5 * random.IntN(max(1, len(memberMessages)-most))
		seeds["good-receive-"+modeName(mode)] = append([]byte{mode}, slices.Concat(receive[:14], receive[14+from:min(14+from+5*most, len(receive))])...)
		seeds["good-operator-"+modeName(mode)] = append([]byte{mode}, operator...)
		seeds["good-custody-"+modeName(mode)] = append([]byte{mode}, custody...)
		seeds["good-leave-"+modeName(mode)] = append([]byte{mode}, leave...)
		seeds["good-late-"+modeName(mode)] = append([]byte{mode}, late...)
	}
	return seeds
}

func modeName(mode byte) string { return string("0123456789abcdef"[mode]) }
