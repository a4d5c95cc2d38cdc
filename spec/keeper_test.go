package spec_test

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// after is a policy.Roster in which the first keeper is Ben, and Ada the last.
type after struct{}

func (after) Draw(_ int, to []ident.Member) []ident.Member { return append(to, ben.id, cleo.id) }

func (after) Others(n int, to []ident.Member) []ident.Member { return after{}.Draw(n, to) }

func (after) Size() int { return 2 }

func (after) Witnesses(_ ident.Member, _ int, to []ident.Member) []ident.Member {
	return append(to, ben.id, cleo.id, ada.id)
}

// obedient is a policy that does the same whatever happens.
type obedient struct {
	policytest.Untimed
	wants []policy.Action
}

func (o *obedient) Step(_ clock.Instant, _ policy.Event, actions []policy.Action) []policy.Action {
	wants := o.wants
	o.wants = nil
	return append(actions, wants...)
}

// kept is Ada's keeper around an obedient policy.
type kept struct {
	t      *testing.T
	policy obedient
	keeper *keeper.Keeper
}

func newKept(t *testing.T, roster policy.Roster) *kept {
	k := &kept{t: t}
	k.keeper = keeper.Around(&k.policy, policy.Params{OperationTime: 4 * time.Second, MaxHold: 12 * time.Second, MembersMax: 3}, policy.Surroundings{
		Self: ada.id, Slot: ident.Member{1}, Roster: roster, Receipt: func([]byte) (policy.Receipt, bool) { return policy.Receipt{}, false },
	}, true)
	k.step(0, policy.Event{Kind: policy.Timer})
	return k
}

// step returns what Ada says first.
func (k *kept) step(seconds float64, e policy.Event) []byte {
	for _, a := range k.keeper.Step(clock.Instant(seconds*1e9), e, nil) {
		if a.Kind == policy.Tell {
			return bytes.Clone(a.Field)
		}
	}
	return nil
}

// of returns what Ada says of a kind.
func (k *kept) of(kind byte, seconds float64, e policy.Event) []byte {
	for _, a := range k.keeper.Step(clock.Instant(seconds*1e9), e, nil) {
		if a.Kind == policy.Tell && a.Field[0] == kind {
			return bytes.Clone(a.Field)
		}
	}
	return nil
}

func (k *kept) hears(seconds float64, from ident.Member, parts ...[]byte) []byte {
	return k.step(seconds, policy.Event{Kind: policy.Message, From: from, Body: slices.Concat(parts...)})
}

// keeperWords are one body of each kind of a keeper, in the order of their numbers.
func keeperWords(t *testing.T, id ident.Token) []word {
	token, timer := policy.Token{ID: id, Born: millis, Hop: 3}, policy.Event{Kind: policy.Timer}
	custody := append(bytes.Clone(id[:]), 0, 0, 0, 0, 0, 0, 0, 3)
	born := binary.BigEndian.AppendUint64(nil, millis)
	promise := []byte{0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5}

	waiter := newKept(t, after{})
	self, custodyAsk := make([]byte, 16), append(bytes.Clone(custody), make([]byte, 16)...)
	want := waiter.step(1, policy.Event{Kind: policy.DemandChanged, Demand: true})
	noted := waiter.hears(2, cleo.id, []byte{128}, self)

	holder := newKept(t, after{})
	holder.policy.wants = []policy.Action{{Kind: policy.Run, Token: id}}
	have := holder.step(1, policy.Event{Kind: policy.Arrival, From: cleo.id, Token: token})
	rest := holder.step(3, policy.Event{Kind: policy.OperationEnded, Token: token, Operated: true})
	holder.policy.wants = []policy.Action{{Kind: policy.Pass, Token: id, To: cleo.id}}
	release := holder.step(5, timer)

	returned := newKept(t, after{}).step(1, policy.Event{Kind: policy.Resumed, Token: token})

	first := newKept(t, three{})
	first.hears(1, cleo.id, []byte{131}, custody, []byte{0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 4})
	released := first.hears(2, cleo.id, []byte{132}, custody, born, promise)
	first.hears(3, ben.id, []byte{128}, self)
	ask := first.step(6, timer)
	first.step(10, policy.Event{Kind: policy.Arrival, From: ben.id, Token: policy.Token{ID: ident.Token(bytes.Repeat([]byte{8}, 32)), Born: millis + 1, Hop: 1}})
	other := first.hears(11, cleo.id, []byte{132}, custody, born, promise)

	giver := newKept(t, after{})
	giver.step(1, policy.Event{Kind: policy.Greeted, From: cleo.id})
	giver.policy.wants = []policy.Action{{Kind: policy.Pass, Token: id, To: cleo.id}}
	giver.step(1, policy.Event{Kind: policy.Arrival, From: ben.id, Token: token})
	giver.step(1, policy.Event{Kind: policy.Parted, From: cleo.id, Token: token})
	went := giver.hears(1.3, ben.id, []byte{136}, custodyAsk)
	none := newKept(t, after{}).hears(60, ben.id, []byte{136}, custodyAsk)

	keeper, hasIt := newKept(t, three{}), append(append([]byte{130}, custody...), 0, 0, 0, 0)
	keeper.hears(1, ben.id, []byte{128}, self)
	keeper.hears(2, cleo.id, hasIt)
	keeper.hears(4, ben.id, []byte{128}, self)
	lasts := keeper.of(139, 6, policy.Event{Kind: policy.Message, From: cleo.id, Body: hasIt})
	lasting := waiter.hears(13, ben.id, []byte{139})

	leaver := newKept(t, after{})
	leaver.policy.wants = []policy.Action{{Kind: policy.Run, Token: id}}
	leaver.step(1, policy.Event{Kind: policy.Arrival, From: cleo.id, Token: token})
	away := leaver.step(2, policy.Event{Kind: policy.Away, At: clock.Instant(12 * time.Second), Token: token})

	account := newKept(t, after{}).hears(1, ben.id, []byte{166}, custody, cleo.id[:], ben.id[:])
	asks := append([]byte{160}, custody...)
	keeps := newKept(t, after{})
	keeps.step(1, policy.Event{Kind: policy.Arrival, From: cleo.id, Token: token})
	still := keeps.hears(2, ben.id, asks)
	sent := giver.hears(1.3, ben.id, asks)
	giver.step(1.4, policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: cleo.id, Token: token, Body: shortReceipt})
	proof := giver.hears(2, ben.id, asks)

	later := policy.Token{ID: ident.Token(bytes.Repeat([]byte{8}, 32)), Born: millis + 1, Hop: 9}
	keeps.policy.wants = []policy.Action{{Kind: policy.Drop, Reason: policy.Superseded, Token: id}}
	keeps.step(3, policy.Event{Kind: policy.Arrival, From: cleo.id, Token: later})
	instead := keeps.hears(4, ben.id, asks)
	never := newKept(t, after{}).hears(60, ben.id, asks)

	loser := newKept(t, after{})
	loser.step(1, policy.Event{Kind: policy.Greeted, From: cleo.id})
	loser.policy.wants = []policy.Action{{Kind: policy.Pass, Token: id, To: cleo.id}}
	loser.step(202, policy.Event{Kind: policy.Arrival, From: ben.id, Token: token})
	loser.step(203, policy.Event{Kind: policy.Parted, From: cleo.id, Token: token})
	loser.step(220, policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: token})
	loser.step(221, policy.Event{Kind: policy.Arrival, From: ben.id, Token: later})
	custody[39]++
	denies := append([]byte{0, 1, 0, 0}, make([]byte, 16)...)
	loser.hears(222, cleo.id, []byte{165}, custody, denies)
	blame := loser.hears(240, cleo.id, []byte{165}, custody, denies)

	return []word{
		{"A want, to Ben, the first keeper", want},
		{"A noted, to Cleo, who has sent a want. She is to say so again in 2 seconds", noted},
		{"A have, to Ben, when the token 0707… has come to Ada at hop 3, and a program runs", have},
		{"A rest, to Ben, when that has ended", rest},
		{"A release, to Ben, when that token is to go on", release},
		{"A returned, to Ben, after a restart with that token", returned},
		{"A released, where Ada is the first keeper, to Cleo, who asks for her promise, of the life 9, with the serial 5", released},
		{"An other, in the place of that, where Ada has a later token herself", other},
		{"An ask, to Cleo, when Ben waits", ask},
		{"A went, to Ben, who has sent an ask. Ada passed that token on to Cleo 300 milliseconds ago, and does not know yet that it has arrived", went},
		{"A none, to Ben, by a member that began its work a minute ago", none},
		{"A lasts, to Ben, who waits, when Cleo has said for 4 seconds that she has that token", lasts},
		{"A lasting, to Ben, by a member that has waited for 12 seconds", lasting},
		{"An away, to Ben, when the machine of Ada is to restart under that token, and she may be silent for 10 seconds", away},
		{"An account, to Cleo, as Ben blames her for the loss of the token 0707… after hop 3", account},
		{"A still, to Ben, who asks Ada likewise while that token is there", still},
		{"A sent, to Ben, 300 milliseconds after Ada has passed it on to Cleo", sent},
		{"A proof, to Ben, when Cleo has answered with a receipt, shown here by 4 bytes", proof},
		{"An instead, to Ben, when Ada has dropped that token, as a later one came from Cleo at hop 9", instead},
		{"A never, to Ben, by a member that began its work a minute ago, and has no journal", never},
		{"A blame, to Ben, when Cleo has given no receipt for the hop that follows, and has said for a while that she never had it", blame},
	}
}

// keeperExamples shows them.
func keeperExamples(t *testing.T, g *gallery) {
	g.text("Of Ada, Ben and Cleo under an exclusive preset, where programs may take 12 seconds: what Ada says as a keeper,", "a holder or a waiter. Unless said otherwise the keepers are Ben, Cleo and Ada, in this order.")
	for _, w := range keeperWords(t, ident.Token(bytes.Repeat([]byte{7}, 32))) {
		g.plain(w.what, w.body)
	}
}

// shortReceipt stands for a receipt.
var shortReceipt = []byte{0xd2, 0x84, 0x58, 0x1a}

// proofKind has no size of its own.
const proofKind = 163

var keeperRow = regexp.MustCompile(`(?m)^\| (1[0-9]{2}) \| [a-z]+ \| .* \| ?(.*)\|$`)

// Each kind of body has the size that the table in policy/keeper.md gives it.
func TestKeeperSizes(t *testing.T) {
	text := page(t, "policy/keeper.md")
	words := keeperWords(t, ident.Token{7})
	rows := keeperRow.FindAllStringSubmatch(text, -1)
	require.Len(t, rows, len(words))
	isProof := func(w word) bool { return bytes.HasPrefix(w.body, []byte{proofKind}) }
	checkSizes(t, slices.DeleteFunc(slices.Clone(words), isProof), slices.DeleteFunc(rows, func(row []string) bool { return row[1] == strconv.Itoa(proofKind) }))
	for _, w := range words {
		require.NoError(t, keeper.CheckBody(w.body), "%s", w.what)
	}
}
