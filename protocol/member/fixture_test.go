package member_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

const resource = "ftp"

// began is the wall clock at the start of every test.
var began = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

// authority is a CA with one group.
type authority struct {
	t     testing.TB
	key   *signature.PrivateKey
	group *group.Group
	next  uint64
}

func keyOf(t testing.TB, n byte) *signature.PrivateKey {
	k, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	require.NoError(t, err)
	return k
}

func settings(version uint64, params policy.Params) group.Settings {
	return group.Settings{
		Version: version, Name: "test", Issued: began,
		Resources: []group.Resource{group.Resource{Name: resource, Params: params}.WithDefaults()},
	}.WithDefaults()
}

var quick = policy.Params{
	Preset: wandering.Paper, OperationTime: time.Second, MembersMax: 10, SkipDelay: 10 * time.Millisecond, MinInterval: time.Millisecond,
	RegenerationMean: 1000 * time.Hour,
}

func newAuthority(t testing.TB) *authority { return newAuthorityOf(t, quick) }

// newAuthorityOf is a group of other parameters.
func newAuthorityOf(t testing.TB, params policy.Params) *authority {
	return newAuthorityWith(t, settings(1, params))
}

// newAuthorityWith is a group of other settings.
func newAuthorityWith(t testing.TB, s group.Settings) *authority {
	key := keyOf(t, 255)
	pub := key.Public().Bytes()
	id := ident.GroupOf(pub[:])
	statement, err := group.Statement{
		Name: "test", Group: id, Key: pub, NotBefore: began.Add(-time.Hour), NotAfter: began.Add(10 * 365 * 24 * time.Hour),
	}.Sign(key)
	require.NoError(t, err)
	c, err := s.Sign(id, key)
	require.NoError(t, err)
	g, err := group.New([]group.Authority{statement}, c)
	require.NoError(t, err)
	return &authority{t: t, key: key, group: g}
}

// someone has a certificate of the group. As a peer it does what a test says.
type someone struct {
	t           testing.TB
	group       ident.Group
	key         *signature.PrivateKey
	certificate certificate.Certificate
	incarnation ident.Incarnation
}

func (a *authority) issue(n byte, lifetime time.Duration) *someone {
	a.next++
	key := keyOf(a.t, n)
	c, err := certificate.Claims{
		Name: "m", Serial: a.next, NotBefore: began.Add(-time.Hour), NotAfter: began.Add(lifetime), IssuedAt: began,
		Key: key.Public().Bytes(), Group: a.group.ID(), ConfigVersion: 1,
	}.Sign(a.key)
	require.NoError(a.t, err)
	return &someone{a.t, a.group.ID(), key, c, ident.Incarnation{n}}
}

func (s *someone) id() ident.Member { return s.certificate.Member() }

func (s *someone) hello() *wire.Hello {
	return &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: s.incarnation, MaxFrame: wire.MaxFrame, Configuration: 1}
}

// mint makes a token of this member's own.
func (s *someone) mint(sequence uint64) token.Title {
	g, err := token.GenesisBody{
		Resource: resource, Generator: s.id(), Incarnation: s.incarnation, Sequence: sequence,
		Time: uint64(began.UnixMilli()),
	}.Sign(s.group, s.key)
	require.NoError(s.t, err)
	return token.Title{Genesis: g}
}

func (s *someone) answer(t token.Transfer, v token.Verdict) []byte {
	a, err := token.AnswerTo(t, s.id(), s.incarnation).Sign(s.group, v, s.key)
	require.NoError(s.t, err)
	return a.Raw()
}

func (s *someone) transfer(title token.Title, body token.TransferBody) *wire.Transfer {
	next, err := body.Sign(s.group, s.key)
	require.NoError(s.t, err)
	return &wire.Transfer{
		Transfer: next.Raw(), Genesis: title.Genesis.Raw(), Previous: title.Transfer.Raw(), Void: title.Void.Raw(),
	}
}

func (s *someone) endpoint(sequence uint64) []byte {
	e, err := certificate.Endpoint{
		Member: s.id(), Sequence: sequence, Mode: certificate.Reachable, Addresses: []string{"a.example.org:1"},
	}.Sign(s.group, s.key)
	require.NoError(s.t, err)
	return e.Raw()
}

// box is a member with a clock and a journal.
type box struct {
	*member.Member
	t       testing.TB
	cfg     member.Config
	now     clock.Reading
	journal []journal.Stamped
	effects []effect.Effect // of the last step
}

func (a *authority) open(s *someone, change func(*member.Config)) *box {
	cfg := member.Config{
		Group: a.group, Certificate: s.certificate, Key: s.key, Durable: true, Machine: "here", Boot: "boot",
	}
	if change != nil {
		change(&cfg)
	}
	b := &box{t: a.t, cfg: cfg, now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: began}}
	b.restart()
	return b
}

// restart makes the member anew from its journal.
func (b *box) restart() {
	b.t.Helper()
	b.cfg.Seed = [32]byte{byte(len(b.journal)), 7}
	m, effects, err := member.Restore(b.cfg, b.journal, b.now)
	require.NoError(b.t, err)
	b.Member = m
	b.took(effects)
}

func (b *box) took(effects []effect.Effect) {
	b.effects = effects
	for _, e := range effects {
		if p, ok := e.(effect.Persist); ok {
			b.journal = append(b.journal, journal.Stamped{At: p.At, Record: p.Record})
		}
	}
}

// checkpoint puts the live records in the place of the journal.
func (b *box) checkpoint() {
	b.journal = nil
	for _, r := range b.Checkpoint() {
		b.journal = append(b.journal, journal.Stamped{At: b.now.Micros(), Record: r})
	}
}

func (b *box) step(in member.Input) { b.took(b.Step(b.now, in)) }

func (b *box) after(d time.Duration) {
	b.now.Boot, b.now.Wall = b.now.Boot.Add(d), b.now.Wall.Add(d)
	b.step(member.Tick{})
}

func (b *box) meet(s *someone) {
	b.step(member.Connected{Certificate: s.certificate})
	b.hear(s, s.hello())
}

func (b *box) hear(s *someone, m wire.Message) {
	b.t.Helper()
	body, err := wire.Encode(m)
	require.NoError(b.t, err)
	b.step(member.Received{From: s.id(), Body: body})
}

// said is the last message of a type in the last step, or nil.
func said[M wire.Message](b *box) (m M) {
	for _, e := range b.effects {
		if s, ok := e.(effect.Send); ok {
			if found, ok := s.Message.(M); ok {
				m = found
			}
		}
	}
	return m
}

func (b *box) verified(raw []byte, of ...*someone) token.Transfer {
	keys := keyring{}
	for _, s := range of {
		keys[s.id()] = s.key.Public()
	}
	tr, err := token.NewVerifier(b.cfg.Group.ID(), keys).Transfer(raw)
	require.NoError(b.t, err)
	return tr
}

type keyring map[ident.Member]*signature.PublicKey

func (k keyring) Key(m ident.Member) *signature.PublicKey { return k[m] }
