package fuzz

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/quorum"
	"github.com/wandertoken/wander/protocol/policy/ring"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// FuzzPolicy: every circulation policy, under events in any order that a driver
// may tell them in, with whatever other members may have written on tokens and
// into messages.
//
//fuzz:of protocol/policy/...
func FuzzPolicy(f *testing.F) { targets["FuzzPolicy"].Fuzz(f) }

const (
	// policyActions bounds the answer to one event: a policy may pass on each
	// token that waits here, and have some more to say.
	policyActions = policy.MaxQueue + 16
	// policyTokens is how many tokens a script tells of.
	policyTokens = 8
	// policyEvents bounds a script, so that an input takes milliseconds.
	policyEvents = 2000
	// policyEnd is where time stands still: no machine runs for 200 years.
	policyEnd = clock.Instant(20 * policy.MaxInterval)
)

// A policy's input is
//
//	policy, preset: their numbers in the catalog   parameters: bits   seed
//	events: kind, pause, and what belongs to it, see policyScript.event
//
// in one byte each; a field or body is preceded by its length, and 255 is one of
// policy.MaxField bytes.
type policyScript struct{ *script }

func (s policyScript) field() []byte {
	n := int(s.byte())
	if n == 255 {
		return bytes.Repeat([]byte{s.byte()}, policy.MaxField)
	}
	field := make([]byte, n)
	read, _ := s.Read(field)
	s.bad = s.bad || read < n
	// Who looks at it may read it as anything.
	_, _, _ = wandering.CheckField(field), wandering.CheckBody(field), ring.CheckBody(field)
	_, _ = keeper.CheckBody(field), quorum.CheckBody(field)
	return field
}

var (
	policyPauses = []time.Duration{
		0, 1, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, time.Minute, time.Hour,
		1000 * time.Hour, policy.MaxInterval,
	}
	policyMembers = []int{0, 1, 2, 3, 5, 1000, policy.MaxMembers, -1, 1 << 40}
	policyBases   = []policy.Params{
		{OperationTime: 40 * time.Millisecond, MembersMax: 5, SkipDelay: 10 * time.Millisecond},
		{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond},
		{OperationTime: time.Millisecond, MembersMax: 1, SkipDelay: time.Millisecond},
		{OperationTime: policy.MaxInterval / policy.MaxMembers, MembersMax: policy.MaxMembers, SkipDelay: policy.MaxSkipDelay},
	}
)

// params are one of the bases, with or without the optional parameters that the
// preset uses. The target interval has no default.
func (s policyScript) params(preset catalog.Preset) policy.Params {
	bits := s.byte()
	p := policyBases[bits%4]
	p.Preset = preset.Name
	for i, parameter := range policy.Parameters {
		given := bits>>(2+i%6)&1 == 1 || parameter.Name == "target_interval"
		if parameter.Optional && given && slices.Contains(preset.Uses, parameter.Name) {
			wire := map[policy.Quantity]uint64{policy.Span: 500, policy.Thousandths: 1000, policy.Count: 2, policy.Flag: 1, policy.Choice: 1}
			parameter.SetWire(&p, wire[parameter.Quantity])
		}
	}
	return p
}

// event reads one event and the pause before it.
func (s policyScript) event() (e policy.Event, pause time.Duration) {
	e.Kind = policy.EventKind(1 + s.below(int(policy.Silent)))
	pause = policyPauses[s.below(len(policyPauses))]
	switch e.Kind {
	case policy.Arrival, policy.Generated, policy.Resumed, policy.Recalled, policy.OperationEnded, policy.PassEnded:
		n := byte(s.below(policyTokens))
		e.Token = policy.Token{ID: ident.Token{n + 1}, Born: uint64(n / 2), Generator: ident.Member{n % 3}}
		what := s.byte()
		e.Token.Hop = uint64(what / 4)
		e.Outcome = policy.Outcome(1 + what%3)
		e.Operated = what%2 == 1
		e.Belated = e.Operated && e.Kind == policy.Arrival
		if e.Kind == policy.Resumed && e.Operated {
			e.Kind, e.Operated = policy.Running, false
		}
		e.From = policyMember(what)
		if e.Kind == policy.PassEnded {
			if e.Body = s.field(); what >= 192 { // it has left, or comes back before its receipt
				e.Kind, e.Outcome = policy.Parted, 0
			}
			break
		}
		e.Token.Field = s.field()
	case policy.DemandChanged:
		e.Demand = s.below(2) == 1
	case policy.Message:
		e.From = ident.Member{s.byte()}
		e.Body = s.field()
	case policy.Silent:
		what := s.byte()
		if e.From = policyMember(what); what >= 128 {
			e.Kind, e.Members = policy.Unsent+policy.EventKind(what%3), int(what/3%2)
		}
	case policy.Wanted:
		if what := s.byte(); what < 192 {
			e.From = policyMember(what)
		}
	case policy.Neighbour:
		e.From = ident.Member{s.byte()}
		e.Members = policyMembers[s.below(len(policyMembers))]
	}
	return e, pause
}

// policyReceipt reads what stands for a receipt here: token, hop, signer, and whether its
// incarnation is the present one.
func policyReceipt(raw []byte) (policy.Receipt, bool) {
	if len(raw) != 4 {
		return policy.Receipt{}, false
	}
	return policy.Receipt{Token: ident.Token{raw[0]}, Hop: uint64(raw[1]), Signer: policyMember(raw[2]), Current: raw[3]%2 == 1}, true
}

// policyOthers is how many members there are beside the one whose policy it is: more
// than it may watch at once.
const policyOthers = policy.MaxWatched + 4

var (
	policySelf = ident.Member{200}
	policySlot = ident.Member{201}
)

func policyMember(b byte) ident.Member { return ident.Member{1 + b%policyOthers} }

// policyRoster knows all others, and draws them one after the other.
type policyRoster struct{ drawn byte }

func (r *policyRoster) Draw(n int, to []ident.Member) []ident.Member {
	for range min(n, policyOthers) {
		to = append(to, policyMember(r.drawn))
		r.drawn++
	}
	return to
}

func (r *policyRoster) Others(n int, to []ident.Member) []ident.Member { return r.Draw(n, to) }

func (*policyRoster) Size() int { return policyOthers }

func (*policyRoster) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for i := range byte(min(n, policyOthers-1)) {
		to = append(to, policyMember(of[0]+i)) // the one after it first
	}
	return to
}

// policyElectorate are all others and the policy's own member, which is the first one for
// some seeds.
type policyElectorate uint64

func (e policyElectorate) Voters(n int, to []ident.Member) ([]ident.Member, int) {
	list := []ident.Member{policySelf}
	for i := range byte(policyOthers) {
		list = append(list, policyMember(i))
	}
	if e%2 == 0 {
		slices.Reverse(list)
	}
	return append(to, list[:min(n, len(list))]...), len(list)
}

// policyPlace is where a token is by the driver's books.
type policyPlace uint8

const (
	policyAway policyPlace = iota
	policyHere
	policyRuns
	policySent
)

// policyDriver performs what two policies of one seed say, which has to be the
// same, and sees that it is permitted.
type policyDriver struct {
	require.TestingT
	policies [2]policy.Policy
	now      clock.Instant
	places   [policyTokens + 1]policyPlace
	passedTo [policyTokens + 1]ident.Member
	found    [policyTokens + 1]bool // what runs there had begun before the policy
	watched  []ident.Member
	generate int
	begun    bool

	knowsFound bool // the policy knows what Running tells it
}

// policyClass is the class of a member, by its id.
func policyClass(m ident.Member) string { return [...]string{"", "two", "most", "unnamed"}[m[0]%4] }

// checkPolicy accepts what is a script to its end. Events that no driver would
// tell at that point are passed over.
func checkPolicy(t require.TestingT, data []byte) bool {
	s := policyScript{newScript(data)}
	names := catalog.Names()
	name := names[s.below(len(names))]
	presets := catalog.Presets(name)
	preset := presets[s.below(len(presets))]
	params, seed := s.params(preset), uint64(s.byte())
	if s.bad {
		return false
	}
	if name == catalog.Wandering || name == catalog.Ring {
		params.OnIsolated = policy.OnIsolated(seed % 3)
	}
	if slices.Contains(preset.Uses, "weights") && seed%2 == 0 {
		params.Weights = must(policy.MakeWeights(map[string]int{"two": 2, "most": policy.MaxWeight}))
	}
	d := &policyDriver{TestingT: t, knowsFound: name == catalog.Ring || name == catalog.Wandering && preset.Kept}
	for i := range d.policies {
		made, err := catalog.New(name, params, policy.Surroundings{Self: policySelf, Random: rand.NewPCG(seed, 0), Roster: new(policyRoster), Slot: policySlot, Young: seed%2 == 0, Electorate: policyElectorate(seed), Receipt: policyReceipt, Class: policyClass})
		if err != nil {
			isOneOf(t, err, policy.ErrOutOfRange) // parameters that do not go together
			return false
		}
		d.policies[i] = made
	}
	for range policyEvents {
		if s.Len() == 0 {
			return true
		}
		e, pause := s.event()
		if s.bad {
			return false
		}
		d.step(e, pause)
	}
	return s.Len() == 0
}

// permitted reports whether a driver may tell the event now.
func (d *policyDriver) permitted(e *policy.Event) bool {
	place := d.places[e.Token.ID[0]]
	switch e.Kind {
	case policy.Arrival:
		return place == policyAway || place == policySent
	case policy.Generated:
		return place == policyAway && (d.generate > 0 || !d.holds())
	case policy.Resumed:
		return place == policyAway
	case policy.Running:
		return place == policyAway && !d.holds()
	case policy.Recalled:
		return !d.begun
	case policy.OperationEnded:
		return place == policyRuns
	case policy.PassEnded:
		return place == policySent || place == policyHere && e.Outcome == policy.Abandoned
	case policy.Parted:
		return place == policySent || len(e.Body) > 0
	case policy.Silent:
		return slices.Contains(d.watched, e.From)
	case policy.Neighbour:
		return e.From != policySelf
	}
	return true
}

func (d *policyDriver) holds() bool {
	return slices.Contains(d.places[:], policyHere) || slices.Contains(d.places[:], policyRuns)
}

func (d *policyDriver) step(e policy.Event, pause time.Duration) {
	if !d.permitted(&e) {
		return
	}
	d.now = min(d.now.Add(pause), policyEnd)
	place := &d.places[e.Token.ID[0]]
	switch e.Kind {
	case policy.Recalled:
		e.At = -clock.Instant(pause)
	case policy.Arrival, policy.Resumed:
		*place = policyHere
	case policy.Running:
		*place, d.found[e.Token.ID[0]] = policyRuns, true
	case policy.Generated:
		*place = policyHere
		d.generate = max(0, d.generate-1)
	case policy.OperationEnded:
		*place = policyHere
	case policy.PassEnded:
		switch {
		case e.Outcome == policy.Returned:
			*place = policyHere
		case *place == policyHere: // a layer around a policy lets that go on before: it may pass the token
			defer func() { *place = policyAway }()
		default:
			*place = policyAway
		}
		if to := d.passedTo[e.Token.ID[0]]; !to.IsZero() {
			e.From = to
		}
	case policy.Silent:
		d.unwatch(e.From)
	case policy.Timer:
		if due := d.policies[0].Deadline(); pause == 0 && due != clock.Never {
			d.now = max(d.now, due)
		}
	}
	d.tell(e)
	if found := &d.found[e.Token.ID[0]]; *found && e.Kind == policy.OperationEnded {
		*found = false
		d.tell(policy.Event{Kind: policy.Resumed, Token: e.Token})
	}
}

func (d *policyDriver) tell(e policy.Event) {
	d.begun = d.begun || e.Kind != policy.Recalled
	actions := d.policies[0].Step(d.now, e, nil)
	require.Equal(d, actions, d.policies[1].Step(d.now, e, nil), "another answer to the same events")
	require.Equal(d, d.policies[0].Deadline(), d.policies[1].Deadline(), "another deadline after the same events")
	require.LessOrEqual(d, len(actions), policyActions)
	for i := range actions {
		d.perform(&actions[i])
	}
	if e.Kind == policy.Timer {
		require.Greater(d, d.policies[0].Deadline(), d.now, "a Timer leaves nothing undone")
	}
}

// watch ends the oldest watch when there are too many.
func (d *policyDriver) watch(m ident.Member) {
	if !slices.Contains(d.watched, m) {
		d.watched = append(d.watched, m)
		d.watched = d.watched[max(0, len(d.watched)-policy.MaxWatched):]
	}
}

func (d *policyDriver) unwatch(m ident.Member) {
	d.watched = slices.DeleteFunc(d.watched, func(o ident.Member) bool { return o == m })
}

// perform books an action.
func (d *policyDriver) perform(a *policy.Action) {
	require.LessOrEqual(d, len(a.Field), policy.MaxField)
	place := &d.places[0]
	if a.Kind == policy.Run || a.Kind == policy.Prepare || a.Kind == policy.Pass || a.Kind == policy.Drop {
		require.NotZero(d, a.Token[0], "a token of which nobody has told")
		require.LessOrEqual(d, int(a.Token[0]), policyTokens)
		place = &d.places[a.Token[0]]
		require.Contains(d, []policyPlace{policyHere, policyRuns}, *place, "action %d on a token that is not here", a.Kind)
	}
	switch a.Kind {
	case policy.Run:
		for i, other := range d.places {
			known := !d.found[i] || d.knowsFound
			require.False(d, other == policyRuns && known, "two operations at once")
		}
		*place = policyRuns
	case policy.Pass:
		require.Equal(d, policyHere, *place, "passes what runs")
		*place, d.passedTo[a.Token[0]] = policySent, a.To
	case policy.Drop:
		require.Equal(d, policyHere, *place, "drops what runs")
		require.NotEqual(d, "unknown", a.Reason.String())
		*place = policyAway
	case policy.Generate:
		d.generate++
	case policy.Tell:
		require.False(d, a.To.IsZero())
		require.NotEqual(d, policySelf, a.To)
	case policy.Watch:
		require.False(d, a.To.IsZero())
		require.NotEqual(d, policySelf, a.To)
		d.watch(a.To)
	case policy.Unwatch:
		d.unwatch(a.To)
	case policy.Shun:
		require.False(d, a.To.IsZero())
		require.NotEqual(d, policySelf, a.To)
	case policy.Complain:
		require.False(d, a.To.IsZero())
		require.NotEqual(d, policySelf, a.To)
		require.Contains(d, policy.Measures(), a.Measure)
		require.Contains(d, policy.Causes(), a.Cause)
	case policy.Prepare:
	default:
		require.Fail(d, "unknown action", "%d", a.Kind)
	}
}

// say writes an event in a script: its kind, the number of the pause and the rest.
func say(kind policy.EventKind, pause byte, rest ...byte) []byte {
	return append([]byte{byte(kind) - 1, pause}, rest...)
}

func sayField(field []byte) []byte { return append([]byte{byte(len(field))}, field...) }

// policySeeds has a script for each preset: a life with two tokens, requests,
// neighbours and a token that is lost.
func policySeeds() map[string][]byte {
	seeds := map[string][]byte{
		"bad-empty":   {},
		"bad-policy":  {250, 0, 0, 0},
		"bad-preset":  {0, 250, 0, 0},
		"bad-no-seed": {0, 0, 0},
		"bad-event":   {0, 0, 0, 0, byte(policy.Silent), 0},
		"bad-pause":   {0, 0, 0, 0, byte(policy.Timer) - 1, 99},
		"bad-demand":  {0, 0, 0, 0, byte(policy.DemandChanged) - 1, 0, 2},
		"bad-token":   append([]byte{0, 0, 0, 0}, say(policy.Arrival, 0, policyTokens, 0, 0)...),
		"bad-field":   append([]byte{0, 0, 0, 0}, say(policy.Arrival, 0, 1, 0, 9, 1, 2)...),
		"bad-members": append([]byte{0, 0, 0, 0}, say(policy.Neighbour, 0, 1, 99)...),
	}
	for number, name := range catalog.Names() {
		for i, preset := range catalog.Presets(name) {
			head := []byte{byte(number), byte(i), 0, 1}
			seeds["good-"+name+"-"+preset.Name] = append(head, policyLife()...)
			all := slices.Clone(head)
			all[2] = 0xfd
			seeds["good-"+name+"-"+preset.Name+"-all-parameters"] = append(all, policyLife()...)
			if preset.Kept {
				seeds["good-"+name+"-"+preset.Name+"-keepers"] = append([]byte{byte(number), byte(i), 0, 3}, policyInquest()...) // nobody votes
			}
		}
	}
	return seeds
}

func policyLife() []byte {
	baton := sayField([]byte{1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 1, 0})
	endless := sayField([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	request := sayField([]byte{1, 0, 0, 0, 1, 0, 0, 0, 9})
	follows := append(append([]byte{1, 255, 255, 255, 255, 255, 255, 255, 255, 2}, make([]byte, 38)...), 9)
	return slices.Concat(
		say(policy.Recalled, 5, append([]byte{1, 1}, 0)...),
		say(policy.Neighbour, 0, 2, 3),
		say(policy.DemandChanged, 2, 1),
		say(policy.Timer, 0),
		say(policy.Arrival, 3, append([]byte{2, 4}, baton...)...),
		say(policy.Message, 2, append([]byte{1}, request...)...),
		say(policy.Arrival, 1, append([]byte{0, 4}, endless...)...),
		say(policy.OperationEnded, 4, 2, 1, 0),
		say(policy.DemandChanged, 0, 0),
		say(policy.PassEnded, 3, 2, 1, 0),
		say(policy.Neighbour, 2, 3, 4),
		say(policy.PassEnded, 1, 0, 0, 0),
		say(policy.Message, 2, append([]byte{1}, sayField(follows)...)...),
		say(policy.Message, 2, 4, 255, 7),
		say(policy.Arrival, 5, 1, 36, 255, 9),
		say(policy.Timer, 0),
		say(policy.DemandChanged, 2, 1),
		say(policy.Timer, 0),
		say(policy.OperationEnded, 4, 1, 0, 0),
		say(policy.Neighbour, 2, 0, 1),
		say(policy.Timer, 7),
		say(policy.Timer, 0),
		say(policy.Generated, 1, 5, 0, 0),
		say(policy.Resumed, 1, append([]byte{3, 9}, baton...)...),
		say(policy.OperationEnded, 4, 5, 1, 0),
		say(policy.Timer, 8),
		say(policy.Timer, 0),
	)
}

// policyInquest has every body of a keeper in it: members give account of tokens, that they keep or
// lost.
func policyInquest() []byte {
	const self, accused, giver, other = 200, 6, 9, 12
	id, who := func(b byte) []byte { return append([]byte{b}, make([]byte, 31)...) }, func(b byte) []byte { return append([]byte{b}, make([]byte, 15)...) }
	at := func(token, hop byte) []byte { return append(id(token), 0, 0, 0, 0, 0, 0, 0, hop) }
	span, born, promise := []byte{0, 0, 1, 44}, make([]byte, 8), []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}
	says := func(from, pause byte, parts ...[]byte) []byte {
		return say(policy.Message, pause, append([]byte{from}, sayField(slices.Concat(parts...))...)...)
	}
	greets := func(what byte) []byte { return say(policy.Silent, 5, what) }
	var late []byte // so long that the holder is struck
	for range 30 {
		late = slices.Concat(late, says(accused, 5, []byte{161}, at(9, 5)), say(policy.Timer, 0))
	}
	return slices.Concat(
		say(policy.Timer, 0), greets(137), greets(140), greets(143), // accused, giver and other
		say(policy.Timer, 7),
		says(other, 1, []byte{128}, who(0)), says(other, 1, []byte{129}, span),
		says(accused, 1, []byte{130}, at(9, 5), span), says(accused, 1, []byte{131}, at(9, 5), promise),
		says(accused, 1, []byte{132}, at(9, 5), born, promise), says(accused, 1, []byte{133}, at(9, 5), born, promise),
		says(accused, 1, []byte{134}, at(9, 5), promise), says(accused, 1, []byte{135}, at(9, 5), promise, who(giver)),
		says(other, 1, []byte{136}, at(9, 5), who(other)), says(accused, 1, []byte{137}, at(9, 5), who(giver), span), says(accused, 1, []byte{138}, span),
		says(other, 6, []byte{166}, at(9, 5), who(accused), who(giver)),
		says(accused, 1, []byte{165}, at(9, 5), span), says(giver, 1, []byte{162}, at(9, 4), who(accused), make([]byte, 4)),
		says(accused, 1, []byte{165}, at(9, 5), span), // in doubt
		says(other, 6, []byte{166}, at(8, 5), who(accused), who(giver)),
		says(accused, 1, []byte{164}, at(8, 5), who(giver), at(9, 3)), says(giver, 1, []byte{163}, []byte{9, 3, 7, 1}), // refuted
		says(other, 6, []byte{166}, at(7, 5), who(accused), who(self)), says(accused, 1, []byte{162}, at(7, 5), who(self), make([]byte, 4)),
		say(policy.Arrival, 3, 2, 4, 0), says(other, 1, []byte{160}, at(3, 1)),
		say(policy.Timer, 6), say(policy.PassEnded, 1, 2, 200, 0), says(other, 1, []byte{160}, at(3, 1)),
		say(policy.PassEnded, 1, 2, 0, 4, 3, 2, 5, 1), says(other, 1, []byte{160}, at(3, 1)),
		say(policy.Arrival, 3, 4, 4, 0), says(accused, 1, []byte{165}, at(3, 2), span),
		says(other, 6, []byte{166}, at(9, 5), who(accused), who(giver)), says(accused, 1, []byte{161}, at(9, 5)),
		late,
		says(accused, 1, []byte{128}, who(0)), says(accused, 1, []byte{136}, at(9, 5), who(0)), says(accused, 1, []byte{160}, at(9, 5)),
		says(other, 1, []byte{163}), say(policy.Timer, 7), say(policy.Timer, 0),
	)
}
