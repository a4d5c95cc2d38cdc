package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// rolled is a member that has a token of its own and has taken one from a peer, which
// has the receipt.
type rolled struct {
	*box
	a       *authority
	peer    *someone
	before  []journal.Stamped // its journal without the taking
	receipt []byte
	later   *wire.Transfer // that the peer has sent and the member has not seen
}

func newRolled(t *testing.T) *rolled {
	a := newAuthority(t)
	r := &rolled{box: a.open(a.issue(1, 24*time.Hour), func(c *member.Config) { c.Found = true }), a: a, peer: a.issue(2, 24*time.Hour)}
	r.step(member.Announce{Addresses: []string{"b.example.org:1"}})
	r.meet(r.peer)
	r.before = slices.Clone(r.journal)
	r.peer.passes(r.box, r.peer.mint(1), 1)
	r.receipt = said[*wire.Receipt](r.box).Receipt
	return r
}

// back starts the member again with a journal.
func (r *rolled) back(journal []journal.Stamped) {
	r.after(time.Second)
	r.journal = slices.Clone(journal)
	r.restart()
	r.step(member.Announce{Addresses: []string{"b.example.org:1"}})
}

// shown is the peer's greeting with an object of the member's.
func (r *rolled) shown(kind wire.ShownKind, object []byte) *wire.Hello {
	h := r.peer.hello()
	h.Shown = &wire.Shown{Kind: kind, Object: object}
	return h
}

// greets has the peer connect and greet.
func (r *rolled) greets(h *wire.Hello) {
	r.step(member.Connected{Certificate: r.peer.certificate})
	r.hear(r.peer, h)
}

// wentBack reports whether the last step says that the journal went back.
func (b *box) wentBack() bool {
	return slices.ContainsFunc(reports(b), func(r effect.Report) bool { return r.Kind == "journal went back" })
}

// TestRecall_PeerShowsWhatIsForgotten_NewIncarnation: H-73. An old copy, and a journal
// without its end, with what others know of it.
func TestRecall_PeerShowsWhatIsForgotten_NewIncarnation(t *testing.T) {
	for name, cut := range map[string]int{"the last record": 1, "all since the peer was met": 1000} {
		t.Run(name, func(t *testing.T) {
			r := newRolled(t)
			first := r.Status().Incarnation
			r.back(r.journal[:max(len(r.before), len(r.journal)-cut)])
			require.Equal(t, first, r.Status().Incarnation)
			require.True(t, r.Status().Recalling)
			r.greets(r.shown(wire.ShownReceipt, r.receipt))
			assert.True(t, r.wentBack())
			assert.NotEqual(t, first, r.Status().Incarnation)
			assert.False(t, r.Holds(resource), "its tokens are lost to it")
			require.NotNil(t, said[*wire.Hello](r.box), "the peer is told")
			assert.Equal(t, r.Status().Incarnation, said[*wire.Hello](r.box).Incarnation)
			assert.EqualValues(t, 1, r.Status().Rollbacks)
			assert.NotEmpty(t, r.Status().LastLoss)

			r.hear(r.peer, r.shown(wire.ShownReceipt, r.receipt))
			assert.False(t, r.wentBack(), "that was of the memory before")
			r.checkpoint()
			second := r.Status().Incarnation
			r.back(r.journal)
			r.greets(r.shown(wire.ShownReceipt, r.receipt))
			assert.Equal(t, second, r.Status().Incarnation, "also after a restart")
		})
	}
}

// TestRecall_WholeJournal_Continued: what a peer shows is in the journal, and in its
// checkpoint; an older object, shown by whomever, is, too.
func TestRecall_WholeJournal_Continued(t *testing.T) {
	r := newRolled(t)
	first := r.Status().Incarnation
	for range 3 {
		r.back(r.journal)
		r.greets(r.shown(wire.ShownReceipt, r.receipt))
		assert.Empty(t, reports(r.box))
		assert.Equal(t, first, r.Status().Incarnation)
		assert.True(t, r.Holds(resource))
		assert.False(t, r.Status().Recalling, "all have greeted")
		r.checkpoint()
	}
}

// TestRecall_Forged_NothingLost: a peer cannot make a member lose what it holds.
func TestRecall_Forged_NothingLost(t *testing.T) {
	r := newRolled(t)
	later := token.Position{Opening: 1 << 60, Serial: 1 << 60}
	lies := map[string]*wire.Hello{
		"an object of its own": r.shown(wire.ShownReceipt, func() []byte {
			body := token.AnswerTo(r.transferOf(r.peer.mint(2)), r.peer.id(), r.peer.incarnation)
			body.Extensions = later.Extensions()
			a, err := body.Sign(r.a.group.ID(), token.Receipt, r.peer.key)
			require.NoError(t, err)
			return a.Raw()
		}()),
		"a receipt that it has signed itself": r.shown(wire.ShownReceipt, func() []byte {
			body := token.AnswerTo(r.transferOf(r.peer.mint(2)), r.ID(), r.peer.incarnation)
			body.Extensions = later.Extensions()
			a, err := body.Sign(r.a.group.ID(), token.Receipt, r.peer.key)
			require.NoError(t, err)
			return a.Raw()
		}()),
		"nonsense": r.shown(wire.ShownGenesis, []byte{1, 2, 3}),
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			first := r.Status().Incarnation
			r.back(r.journal)
			r.greets(lie)
			assert.Equal(t, []effect.Report{{Kind: "shown object", About: r.peer.id(), Detail: "handed over by this member"}}, reports(r.box))
			assert.Equal(t, first, r.Status().Incarnation)
			assert.True(t, r.Holds(resource))
		})
	}
}

// accepts has the member accept a token whose transfer is in progress when it ends.
func (r *rolled) accepts() {
	title := r.peer.mint(5)
	r.hear(r.peer, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](r.box)
	require.NotNil(r.t, accept)
	r.later = r.peer.transfer(title, title.Next(r.ID(), accept.Reservation()))
}

// addressees are those to whom the last step has sent something.
func addressees(b *box) (list []ident.Member) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			list = append(list, s.To)
		}
	}
	return list
}

// transferOf is some transfer of a token.
func (r *rolled) transferOf(title token.Title) token.Transfer {
	tr, err := title.Next(r.ID(), ident.Reservation{Incarnation: r.peer.incarnation, Number: 9}).Sign(r.a.group.ID(), r.peer.key)
	require.NoError(r.t, err)
	return tr
}

// TestRecall_Waiting_NothingUsedOrTaken: H-72. Until its peers have greeted a member
// grants nothing, refuses offers, and puts transfers off.
func TestRecall_Waiting_NothingUsedOrTaken(t *testing.T) {
	r := newRolled(t)
	third := r.a.issue(3, 24*time.Hour)
	r.step(member.Learn{Certificates: [][]byte{third.certificate.Raw()}, Endpoints: [][]byte{third.endpoint(1)}})
	r.accepts()
	r.back(r.journal)
	assert.Contains(t, addressees(r.box), third.id(), "who has not greeted is dialled")
	r.step(member.Demand{Request: 1, Resource: resource})
	assert.Nil(t, granted(r.box))
	r.greets(r.peer.hello())
	assert.True(t, r.Status().Recalling, "another one has not greeted")
	title := r.peer.mint(7)
	r.hear(r.peer, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	require.NotNil(t, said[*wire.Refuse](r.box))
	assert.Equal(t, wire.RefuseRecalling, said[*wire.Refuse](r.box).Reason)
	r.hear(r.peer, r.later)
	assert.Nil(t, said[*wire.Receipt](r.box))
	assert.Nil(t, said[*wire.Void](r.box))
	assert.Nil(t, said[*wire.Unknown](r.box))

	r.step(member.Connected{Certificate: third.certificate})
	r.hear(third, third.hello())
	assert.False(t, r.Status().Recalling)
	assert.NotNil(t, said[*wire.Hello](r.box), "so that the transfer comes again")
	r.hear(r.peer, r.later)
	assert.NotNil(t, said[*wire.Receipt](r.box))
	r.after(time.Minute)
	assert.True(t, r.Status().Slots[0].Executing)
}

// TestRecall_PeersDead_Bounded: H-72. Who does not greet is not waited for longer than 5 s.
func TestRecall_PeersDead_Bounded(t *testing.T) {
	r := newRolled(t)
	r.step(member.Learn{Endpoints: [][]byte{r.peer.endpoint(1)}})
	r.back(r.journal)
	r.after(4900 * time.Millisecond)
	assert.True(t, r.Status().Recalling)
	r.after(200 * time.Millisecond)
	assert.False(t, r.Status().Recalling)
	assert.True(t, slices.ContainsFunc(reports(r.box), func(e effect.Report) bool { return e.Kind == "journal not confirmed" }))
}

// TestRecall_Late_WaitsLonger: a member that runs late hears greetings late, and may be
// late once it has begun to wait only.
func TestRecall_Late_WaitsLonger(t *testing.T) {
	for _, begins := range []time.Duration{0, 4 * time.Second} {
		r := newRolled(t)
		r.step(member.Learn{Endpoints: [][]byte{r.peer.endpoint(1)}})
		r.back(r.journal)
		r.after(begins)
		r.step(member.Late{By: 2 * member.LateFrom})
		r.after(3*5*time.Second - begins - 100*time.Millisecond)
		assert.True(t, r.Status().Recalling, begins)
		r.after(200 * time.Millisecond)
		assert.False(t, r.Status().Recalling, begins)
	}
}

// TestRecall_EmptyMemory_NoWait: who has nothing to forget does not wait.
func TestRecall_EmptyMemory_NoWait(t *testing.T) {
	a := newAuthority(t)
	for name, change := range map[string]func(*member.Config){
		"first start": func(*member.Config) {}, "volatile": func(c *member.Config) { c.Durable = false },
		"new incarnation": func(c *member.Config) { c.NewIncarnation = true },
	} {
		b := a.open(a.issue(1, time.Hour), change)
		assert.False(t, b.Status().Recalling, name)
		if name != "first start" {
			b.restart()
			assert.False(t, b.Status().Recalling, name)
		}
	}
}

// TestRecall_Stopped_TokensKept: a member that is stopped while it waits passes nothing on.
func TestRecall_Stopped_TokensKept(t *testing.T) {
	r := newRolled(t)
	r.step(member.Learn{Endpoints: [][]byte{r.peer.endpoint(1)}})
	r.back(r.journal)
	r.step(member.Shutdown{})
	assert.Nil(t, said[*wire.Offer](r.box))
	assert.True(t, r.Idle())
}

// TestRecall_Copy_Told: H-74. A copy that runs somewhere else signs an endpoint record, of a
// start that this member does not know: each of the two that hears of the other gives up
// its memory, and says so.
func TestRecall_Copy_Told(t *testing.T) {
	r := newRolled(t)
	first := r.Status().Incarnation
	r.after(time.Second)
	twin := &box{t: t, cfg: r.cfg, now: r.now, journal: slices.Clone(r.journal)}
	twin.restart()
	twin.step(member.Announce{Addresses: []string{"c.example.org:1"}})
	twin.meet(r.peer)
	record, known := twin.Endpoint(r.ID())
	require.True(t, known)

	h := r.peer.hello()
	h.Endpoint = record
	r.hear(r.peer, h)
	assert.True(t, r.wentBack())
	assert.NotEqual(t, first, r.Status().Incarnation)
	assert.False(t, r.Holds(resource))
	assert.Contains(t, reports(r.box)[0].Detail, "another process runs with this member's key")

	r.after(time.Second)
	answer, _ := r.Endpoint(r.ID())
	require.NotEqual(t, record, answer, "it signs one in turn")
	h.Endpoint = answer
	twin.now = r.now
	twin.hear(r.peer, h)
	assert.True(t, twin.wentBack(), "the copy is told, too")
	assert.False(t, twin.Holds(resource))
}

// TestRecall_CopyWithEmptyMemory_TokensKept: H-74. A copy of the folder begins anew by
// itself: the member says so, and keeps what it has.
func TestRecall_CopyWithEmptyMemory_TokensKept(t *testing.T) {
	r := newRolled(t)
	first := r.Status().Incarnation
	r.after(time.Second)
	twin := &box{t: t, cfg: r.cfg, now: r.now, journal: slices.Clone(r.journal)}
	twin.cfg.Machine = "there"
	twin.restart()
	twin.step(member.Announce{Addresses: []string{"c.example.org:1"}})
	twin.meet(r.peer)
	r.peer.passes(twin, r.peer.mint(9), 1)
	receipt := said[*wire.Receipt](twin).Receipt
	h := r.peer.hello()
	h.Endpoint, _ = twin.Endpoint(r.ID())
	r.hear(r.peer, h)
	require.Len(t, reports(r.box), 1)
	assert.Equal(t, "copy runs", reports(r.box)[0].Kind)
	r.hear(r.peer, r.shown(wire.ShownReceipt, receipt))
	assert.Equal(t, first, r.Status().Incarnation)
	assert.True(t, r.Holds(resource))
	assert.Equal(t, 1, r.Status().Copies)
}

// TestMemories_Shown_AfterRestart: H-71. What others have signed is shown to them, also
// after restarts and checkpoints.
func TestMemories_Shown_AfterRestart(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, 24*time.Hour), nil), a.issue(2, 24*time.Hour)
	b.meet(peer)
	title := peer.mint(1)
	b.hear(peer, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: title.Genesis.Raw(), Signers: title.Signers()})
	accept := said[*wire.Accept](b)
	body := title.Next(b.ID(), accept.Reservation())
	body.Extensions = token.Position{Opening: 77, Tag: [8]byte{1}, Serial: 3}.Extensions()
	transfer := peer.transfer(title, body)
	b.hear(peer, transfer)
	require.NotNil(t, said[*wire.Receipt](b))
	for range 3 {
		b.step(member.Unreachable{Peer: peer.id()})
		b.step(member.Connected{Certificate: peer.certificate})
		shown := said[*wire.Hello](b).Shown
		require.NotNil(t, shown)
		assert.Equal(t, wire.ShownTransfer, shown.Kind)
		assert.Equal(t, transfer.Transfer, shown.Object)
		b.restart()
		b.checkpoint()
		b.restart()
	}
}

// TestRecall_FounderDiedBefore_TokenToldOnce: the operator's word to found outlives a kill
// that came before the token was made. The policy is told of that token once.
func TestRecall_FounderDiedBefore_TokenToldOnce(t *testing.T) {
	a := newAuthority(t)
	s := a.marionette(a.issue(1, 24*time.Hour), nil)
	peer := a.issue(2, 24*time.Hour)
	s.step(member.Announce{Addresses: []string{"b.example.org:1"}})
	s.meet(peer)
	s.after(time.Second)
	s.cfg.Found = true
	s.restart()
	require.True(t, s.Status().Recalling)
	s.step(member.Connected{Certificate: peer.certificate})
	s.hear(peer, peer.hello())
	require.False(t, s.Status().Recalling)
	require.True(t, s.Holds(resource))
	var told []policy.EventKind
	for _, e := range s.puppet.events {
		if e.Kind == policy.Generated || e.Kind == policy.Resumed || e.Kind == policy.Running {
			told = append(told, e.Kind)
		}
	}
	assert.Equal(t, []policy.EventKind{policy.Generated}, told)
}

// TestTransfer_AcceptedBeforeRestart_Belated: a transfer that is repeated until its receiver
// is back may be of a token that was replaced since. The policy is told that nobody expected
// it.
func TestTransfer_AcceptedBeforeRestart_Belated(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		a := newAuthority(t)
		s := a.marionette(a.issue(1, 24*time.Hour), nil)
		r := &rolled{box: s.box, a: a, peer: a.issue(2, 24*time.Hour)}
		s.step(member.Announce{Addresses: []string{"b.example.org:1"}})
		s.meet(r.peer)
		r.accepts()
		if restarts {
			r.back(r.journal)
			r.greets(r.peer.hello())
			require.False(t, r.Status().Recalling)
		}
		r.hear(r.peer, r.later)
		require.True(t, s.Holds(resource))
		i := slices.IndexFunc(s.puppet.events, func(e policy.Event) bool { return e.Kind == policy.Arrival })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, restarts, s.puppet.events[i].Belated)
	}
}

// TestRecall_GreetedMeanwhile_PolicyTold: P-70. The members that have greeted while this one waited are connected for its
// policies, too: what they say is compared with what they said before.
func TestRecall_GreetedMeanwhile_PolicyTold(t *testing.T) {
	a := newAuthority(t)
	m := a.marionette(a.issue(1, 24*time.Hour), nil)
	early, late := a.issue(2, 24*time.Hour), a.issue(3, 24*time.Hour)
	m.meet(early)
	m.restart()
	m.puppet.events = nil
	m.meet(early)
	m.step(member.Connected{Certificate: late.certificate}) // and has not greeted
	m.after(time.Minute)
	m.hear(late, late.hello())
	var greeted []ident.Member
	for _, e := range m.puppet.events {
		if e.Kind == policy.Greeted {
			greeted = append(greeted, e.From)
		}
	}
	assert.Equal(t, []ident.Member{early.id(), late.id()}, greeted)
}
