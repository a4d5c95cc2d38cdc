package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/soak/liar/report"
)

const resource = "x"

// authority is a CA with one group.
type authority struct {
	*testing.T
	key   *signature.PrivateKey
	group *group.Group
	next  byte
}

func newAuthority(t *testing.T) *authority {
	a := &authority{T: t, next: 1}
	a.key = a.newKey()
	public := a.key.Public().Bytes()
	id := ident.GroupOf(public[:])
	statement, err := group.Statement{
		Name: "test", Group: id, Key: public, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}.Sign(a.key)
	require.NoError(t, err)
	settings := group.Settings{
		Version: 1, Name: "test", Issued: time.UnixMilli(1),
		Resources: []group.Resource{group.Resource{Name: resource, Params: policy.Params{Preset: wandering.Fair, OperationTime: time.Second, MembersMax: 5}}.WithDefaults()},
	}.WithDefaults()
	config, err := settings.Sign(id, a.key)
	require.NoError(t, err)
	a.group, err = group.New([]group.Authority{statement}, config)
	require.NoError(t, err)
	return a
}

func (a *authority) newKey() *signature.PrivateKey {
	a.next++
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{a.next}, signature.SeedSize))
	require.NoError(a, err)
	return key
}

func (a *authority) issue(name string) node.Identity {
	key := a.newKey()
	c, err := certificate.Claims{
		Name: name, Serial: uint64(a.next), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IssuedAt: time.Now(),
		Key: key.Public().Bytes(), Group: a.group.ID(), ConfigVersion: 1,
	}.Sign(a.key)
	require.NoError(a, err)
	return node.Identity{Group: a.group, Certificate: c, Key: key}
}

// said is all that a bad member has sent.
type said struct {
	t    *testing.T
	list []wire.Message
}

func (s *said) Send(_ ident.Member, _ transport.Class, body []byte) {
	m, err := wire.Decode(body)
	require.NoError(s.t, err)
	s.list = append(s.list, m)
}

// last is the last message of a type.
func last[M wire.Message](s *said) M {
	for i := len(s.list) - 1; i >= 0; i-- {
		if m, ok := s.list[i].(M); ok {
			return m
		}
	}
	var none M
	require.Fail(s.t, "not said", "%T", none)
	return none
}

// meet makes a bad member that is connected with an honest one.
func meet(t *testing.T, o options) (a *agent, honest node.Identity, out *said) {
	ca := newAuthority(t)
	o.resource, o.rate = resource, 1
	bad := ca.issue("bad1")
	honest = ca.issue("honest")
	o.bad = []string{"bad1"}
	a, err := newAgent(o, bad, &report.Report{})
	require.NoError(t, err)
	out = &said{t: t}
	a.frames, a.life = out, &life{a, make(chan struct{})}
	_, err = a.makeMachine()
	require.NoError(t, err)
	a.connected = append(a.connected, honest.Certificate)
	a.machine.Step(now(), member.Connected{Certificate: honest.Certificate})
	return a, honest, out
}

func encode(t *testing.T, m wire.Message) []byte {
	body, err := wire.Encode(m)
	require.NoError(t, err)
	return body
}

// receipt is the honest member's answer to a transfer.
func receipt(t *testing.T, a *agent, honest node.Identity, m *wire.Transfer) *wire.Receipt {
	transfer, err := a.verifier.Transfer(m.Transfer)
	require.NoError(t, err)
	r, err := token.AnswerTo(transfer, honest.Certificate.Member(), transfer.Body().Incarnation).Sign(a.id.Group.ID(), token.Receipt, honest.Key)
	require.NoError(t, err)
	return &wire.Receipt{Receipt: r.Raw()}
}

func TestMinter_Accepted_HandsOver(t *testing.T) {
	a, honest, out := meet(t, options{kind: "minter", shift: time.Hour})
	from := honest.Certificate.Member()
	a.kind.act()
	offer := last[*wire.Offer](out)
	accept := encode(t, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: ident.Incarnation{1}, Accept: 3, Lifetime: 1000})
	a.received(from, accept)
	sent := last[*wire.Transfer](out)
	a.received(from, accept)
	assert.Equal(t, sent.Transfer, last[*wire.Transfer](out).Transfer, "it signs one transfer of a hop")
	genesis, err := a.verifier.Genesis(sent.Genesis)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), time.UnixMilli(int64(genesis.Body().Time)), time.Minute)
	count := len(out.list)
	a.received(from, encode(t, &wire.Accept{Token: offer.Token, Hop: 5, Incarnation: ident.Incarnation{1}, Accept: 4, Lifetime: 1000}))
	assert.Len(t, out.list, count, "that is an answer to the machine")
	answer := encode(t, receipt(t, a, honest, sent))
	a.received(from, answer)
	a.received(from, answer)
	assert.Equal(t, report.Report{Offered: 1, Sent: 1, Receipts: 1, Tokens: []string{offer.Token.String()}}, *a.report)
}

func TestForger_Title_OfAHopThatNoTokenReaches(t *testing.T) {
	ca := newAuthority(t)
	f := &forger{other: ca.issue("bad2")}
	var err error
	f.agent, err = newAgent(options{kind: "minter", resource: resource}, ca.issue("bad1"), &report.Report{})
	require.NoError(t, err)
	for variant, year := range map[string]int{"": 1970, "1970": 1970, "2100": 2100} {
		f.variant = variant
		title, err := f.forge()
		require.NoError(t, err)
		assert.NoError(t, title.Check())
		assert.Equal(t, year, time.UnixMilli(int64(title.Genesis.Body().Time)).UTC().Year())
		assert.Equal(t, uint64(ident.MaxHop), title.Next(ident.Member{1}, ident.Reservation{Number: 1}).Hop)
	}
	f.variant = "1066"
	_, err = f.forge()
	assert.Error(t, err)
}

func TestBypasser_Refused_SendsWithANumberOfAnother(t *testing.T) {
	a, honest, out := meet(t, options{kind: "bypasser", shift: -24 * time.Hour})
	from := honest.Certificate.Member()
	for _, number := range []uint64{5, 7} {
		a.kind.act()
		offer := last[*wire.Offer](out)
		a.received(from, encode(t, &wire.Accept{Token: offer.Token, Hop: 1, Incarnation: ident.Incarnation{1}, Accept: number, Lifetime: 1000}))
	}
	late := last[*wire.Offer](out)
	a.received(from, encode(t, &wire.Refuse{Token: late.Token, Hop: 1, Reason: wire.RefuseClock}))
	transfer, err := a.verifier.Transfer(last[*wire.Transfer](out).Transfer)
	require.NoError(t, err)
	assert.Equal(t, late.Token, transfer.Body().Token)
	assert.EqualValues(t, 6, transfer.Body().Accept)
	assert.Equal(t, report.Report{Offered: 1, Refused: 1, Sent: 1}, *a.report)
}

func question(t *testing.T, body []byte) []byte {
	require.NoError(t, keeper.CheckBody(body))
	return encode(t, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1, Body: body})
}

func TestHoarder_Asked_HasTheTokenAndRuns(t *testing.T) {
	a, honest, out := meet(t, options{kind: "hoarder", span: 4 * time.Second})
	from := honest.Certificate.Member()
	custody := bytes.Repeat([]byte{7}, custodySize)
	a.received(from, question(t, append(append([]byte{ask}, custody...), make([]byte, 16)...)))
	body := last[*wire.Policy](out).Body
	require.NoError(t, keeper.CheckBody(body))
	assert.Equal(t, binary.BigEndian.AppendUint32(append([]byte{have}, custody...), 4000), body)
	a.received(from, question(t, append([]byte{want}, make([]byte, 16)...)))
	body = last[*wire.Policy](out).Body
	require.NoError(t, keeper.CheckBody(body))
	assert.Equal(t, noted, int(body[0]))
	assert.False(t, a.kind.says(from, &wire.Offer{}), "it passes nothing on")
	assert.True(t, a.kind.says(from, &wire.Accept{}))
}

// asks is a question for a token of a custody.
func asks(t *testing.T, custody []byte) []byte {
	return question(t, slices.Concat([]byte{ask}, custody, make([]byte, 16)))
}

// lastBody is what the bad member has said last to a keeper.
func lastBody(t *testing.T, out *said) []byte {
	body := last[*wire.Policy](out).Body
	require.NoError(t, keeper.CheckBody(body))
	return body
}

func TestDodger_Pauses_SaysNothingToKeepers(t *testing.T) {
	a, honest, out := meet(t, options{kind: "dodger", span: 4 * time.Second})
	d, from := a.kind.(*dodger), honest.Certificate.Member()
	now := d.began
	d.now = func() clock.Instant { return now }
	custody := bytes.Repeat([]byte{7}, custodySize)
	still := &wire.Policy{Body: []byte{policy.KeeperKind + 0x21}}
	for range 2 {
		a.received(from, asks(t, custody))
		assert.Equal(t, have, int(lastBody(t, out)[0]))
		assert.True(t, d.says(from, still))
		now, out.list = now.Add(dodgerTalks), nil
		a.received(from, asks(t, custody))
		a.received(from, question(t, append([]byte{want}, make([]byte, 16)...)))
		assert.Empty(t, out.list)
		assert.False(t, d.says(from, still))
		assert.True(t, d.says(from, &wire.Receipt{}), "it takes tokens all the time")
		now = now.Add(dodgerPauses)
	}
	assert.False(t, d.says(from, &wire.Offer{}), "it passes nothing on")
	assert.Equal(t, 2, a.report.Withheld)
}

func TestEvader_EightPassed_HoardsAndNamesThoseInTurn(t *testing.T) {
	a, honest, out := meet(t, options{kind: "evader", span: 4 * time.Second})
	e, from := a.kind.(*evader), honest.Certificate.Member()
	for hop := range uint64(evaderPasses) {
		assert.True(t, e.says(from, &wire.Offer{}), "it is honest at first")
		transfer, err := token.TransferBody{Token: ident.Token{1}, Hop: 10 + hop, From: a.self, To: from, Accept: 1}.Sign(a.id.Group.ID(), a.id.Key)
		require.NoError(t, err)
		for range 2 { // a transfer that is sent again is no other one
			assert.True(t, e.says(from, &wire.Transfer{Transfer: transfer.Raw()}))
		}
	}
	assert.Equal(t, evaderPasses, a.report.Passed)
	assert.False(t, e.says(from, &wire.Offer{}))
	for n := range uint64(evaderPasses + 1) {
		a.received(from, asks(t, bytes.Repeat([]byte{7}, custodySize)))
		assert.Equal(t, custodyOf(1, 9+n%evaderPasses), lastBody(t, out)[1:1+custodySize])
	}
	assert.False(t, e.says(from, &wire.Policy{Resource: resource, Policy: "wandering", Configuration: 1, Body: slices.Concat([]byte{have}, custodyOf(2, 20), make([]byte, 4))}))
	assert.Equal(t, custodyOf(1, 10), lastBody(t, out)[1:1+custodySize], "nor does it name the token that it keeps")
}

// custodyOf is one of a token whose identifier begins with a byte.
func custodyOf(first byte, hop uint64) []byte {
	id := ident.Token{first}
	return binary.BigEndian.AppendUint64(id[:], hop)
}

func TestIdler_Keeper_NotesWantsAndLooksForNoToken(t *testing.T) {
	a, honest, out := meet(t, options{kind: "idler"})
	from := honest.Certificate.Member()
	says := func(kind byte) bool { return a.kind.says(from, &wire.Policy{Body: []byte{kind}}) }
	assert.True(t, says(none), "it has had no token yet")
	handOver(t, a, honest)
	last[*wire.Receipt](out)
	assert.False(t, a.machine.Holds(resource))
	for _, kind := range []byte{ask, have, rest, back, went, none} {
		assert.False(t, says(kind), kind)
	}
	assert.True(t, says(noted))
	assert.True(t, says(policy.KeeperKind+0x25), "it gives account")
	assert.False(t, a.kind.says(from, &wire.Offer{}))
	assert.Equal(t, 6, a.report.Withheld)
}

func TestMisleader_Asked_TokenIsOnItsWayAtALaterHop(t *testing.T) {
	a, honest, out := meet(t, options{kind: "misleader"})
	from := honest.Certificate.Member()
	handOver(t, a, honest)
	last[*wire.Receipt](out)
	assert.False(t, a.machine.Holds(resource))
	for _, hop := range []uint64{8, 9, 10} {
		a.received(from, asks(t, custodyOf(3, 7)))
		assert.Equal(t, slices.Concat([]byte{went}, custodyOf(3, hop), from[:], []byte{0, 0, 0, onItsWay}), lastBody(t, out))
	}
}

func TestPretender_Asked_TokenIsThereSinceARestart(t *testing.T) {
	a, honest, out := meet(t, options{kind: "pretender"})
	a.received(honest.Certificate.Member(), asks(t, custodyOf(3, 7)))
	assert.Equal(t, slices.Concat([]byte{back}, custodyOf(3, 7), make([]byte, 20)), lastBody(t, out))
}

func TestFavourer_Offers_ToTheSecondHalfOnly(t *testing.T) {
	a, _, out := meet(t, options{kind: "favourer"})
	ca := newAuthority(t)
	a.connected = nil
	for _, name := range []string{"m3", "m1", "bad1", "m4", "m2"} {
		a.connected = append(a.connected, ca.issue(name).Certificate)
	}
	for _, c := range a.connected {
		sent := a.kind.says(c.Member(), &wire.Offer{Token: ident.Token{1}, Hop: 2})
		assert.Equal(t, c.Name() == "m3" || c.Name() == "m4", sent, c.Name())
	}
	assert.True(t, a.kind.says(ident.Member{9}, &wire.Accept{}))
	assert.Len(t, a.inbox.take(), 3, "its machine hears a refusal of each other one")
	assert.Empty(t, out.list)
}

// handOver gives a bad member a token of the honest one, by a transfer.
func handOver(t *testing.T, a *agent, honest node.Identity) token.Title {
	genesis, err := token.GenesisBody{Resource: resource, Generator: honest.Certificate.Member(), Time: 1}.Sign(a.id.Group.ID(), honest.Key)
	require.NoError(t, err)
	title := token.Title{Genesis: genesis}
	title.Transfer, err = title.Next(a.self, ident.Reservation{Incarnation: a.incarnation, Number: 1}).Sign(a.id.Group.ID(), honest.Key)
	require.NoError(t, err)
	a.received(honest.Certificate.Member(), encode(t, &wire.Transfer{Transfer: title.Transfer.Raw(), Genesis: genesis.Raw()}))
	return title
}

func TestDropper_Token_ReceiptedAndForgotten(t *testing.T) {
	a, honest, out := meet(t, options{kind: "dropper"})
	handOver(t, a, honest)
	last[*wire.Receipt](out)
	assert.False(t, a.machine.Holds(resource))
	assert.Equal(t, 1, a.report.Kept)

	a, honest, out = meet(t, options{kind: "dropper", variant: "mute"})
	handOver(t, a, honest)
	assert.Empty(t, out.list)
	assert.Equal(t, 1, a.report.Kept)
}

func TestFriends_Asked_TellWhereTheTokenIs(t *testing.T) {
	a, honest, out := meet(t, options{kind: "friends"})
	f, from := a.kind.(*friends), honest.Certificate.Member()
	title := handOver(t, a, honest)
	last[*wire.Receipt](out)
	id := title.Token()
	asks := question(t, append(binary.BigEndian.AppendUint64(append([]byte{ask}, id[:]...), 1), make([]byte, 16)...))
	a.received(from, asks)
	body := last[*wire.Policy](out).Body
	require.NoError(t, keeper.CheckBody(body))
	assert.Equal(t, have, int(body[0]))
	delete(f.held, id)
	f.passed[id] = passed{2, ident.Member{9}}
	a.received(from, asks)
	body = last[*wire.Policy](out).Body
	require.NoError(t, keeper.CheckBody(body))
	assert.Equal(t, went, int(body[0]))
}

func TestPace_Late_CaughtUpFor100ms(t *testing.T) {
	const ms = time.Millisecond
	p := pace{every: 10 * ms}
	assert.Equal(t, 1, p.due(0))
	assert.Equal(t, 0, p.due(9*ms))
	assert.Equal(t, 1, p.due(10*ms))
	assert.Equal(t, 3, p.due(40*ms), "a tick came late")
	assert.Equal(t, 11, p.due(5000*ms), "what was missed long ago is not made up for")
	assert.Equal(t, 1, p.due(5010*ms))
}

// TestFlood_Address_EachFromAPortOfItsOwn floods a socket that answers nothing.
func TestFlood_Address_EachFromAPortOfItsOwn(t *testing.T) {
	member, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	defer member.Close()
	ctx, cancel := context.WithCancel(t.Context())
	o := options{kind: kindFlood, listen: "127.0.0.1:0", peers: []string{member.LocalAddr().String()}, rate: 100, variant: mute}
	var r report.Report
	over := make(chan error, 1)
	go func() { over <- flood(ctx, o, &r) }()
	from := make(map[string]bool)
	b := make([]byte, 2000)
	for range 5 {
		n, sender, err := member.ReadFrom(b)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, 1200)
		from[sender.String()] = true
	}
	cancel()
	require.NoError(t, await.Next(t, "the end", over))
	assert.Len(t, from, 5)
	assert.GreaterOrEqual(t, r.Handshakes, 5)
}

func TestParse_Invalid_Refused(t *testing.T) {
	good := []string{"-kind", "minter", "-dir", "d", "-listen", "127.0.0.1:1", "-peers", "127.0.0.1:2,127.0.0.1:3", "-rate", "20"}
	o, err := parse(good, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"127.0.0.1:2", "127.0.0.1:3"}, o.peers)
	for _, args := range [][]string{{"extra"}, {"-kind", "saint"}, {"-rate", "0"}, {"-rate", "5000"}, {"-dir", ""}, {"-listen", ""}} {
		_, err := parse(append(good[:len(good):len(good)], args...), nil)
		assert.Error(t, err, args)
	}
}
