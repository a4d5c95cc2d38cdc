// Package gatetest has what tests of a gate need beside it: a group with a CA, the gate's certificate, members, and tokens that these
// have signed.
package gatetest

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// Resource is the one that the group has.
const Resource = "tape"

// Times of the group's configuration, unless a test changes it.
const (
	MaxHold = 3 * time.Second
	Settle  = 100 * time.Millisecond
	Keep    = 300 * time.Millisecond

	// HookTime is long: a test on a busy machine is to see no hook time out that it does not make so.
	HookTime = 20 * time.Second
)

// Party is one that the CA has certified.
type Party struct {
	Key         *signature.PrivateKey
	Certificate certificate.Certificate
}

// ID is the party's id.
func (p Party) ID() ident.Member { return p.Certificate.Member() }

// World is a group with a CA, some members, and what the tests change of its configuration.
type World struct {
	T       testing.TB
	Group   *group.Group
	Gate    Party
	Members []Party
	ca      *signature.PrivateKey
	serial  uint64
	sequel  uint64 // of geneses
	revoked uint64
}

// Key makes a key.
func Key(t testing.TB) *signature.PrivateKey {
	t.Helper()
	key, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	return key
}

// New makes a group; change may change its resource and the gate of that.
func New(t testing.TB, members int, change func(*group.Resource)) *World {
	t.Helper()
	w := &World{T: t, ca: Key(t)}
	pub := w.ca.Public().Bytes()
	id := ident.GroupOf(pub[:])
	now := time.Now().Truncate(time.Second)
	authority, err := group.Statement{Name: "test", Group: id, Key: pub, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}.Sign(w.ca)
	require.NoError(t, err)
	gateKey := Key(t)
	r := resourceOf(id, gateKey)
	if change != nil {
		change(&r)
	}
	config, err := group.Settings{Version: 1, Name: "test", Issued: now, Resources: []group.Resource{r}}.WithDefaults().Sign(id, w.ca)
	require.NoError(t, err)
	w.Group, err = group.New([]group.Authority{authority}, config)
	require.NoError(t, err)
	w.Gate = w.Issue("gate", gateKey, AsGate)
	for i := range members {
		w.Members = append(w.Members, w.Issue(string(rune('a'+i)), Key(t), nil))
	}
	return w
}

// Issue certifies a key.
func (w *World) Issue(name string, key *signature.PrivateKey, change func(*certificate.Claims)) Party {
	w.T.Helper()
	w.serial++
	now := time.Now().Truncate(time.Second)
	claims := certificate.Claims{
		Name: name, Serial: w.serial, NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Hour), IssuedAt: now,
		Key: key.Public().Bytes(), Group: w.Group.ID(), ConfigVersion: 1,
	}
	if change != nil {
		change(&claims)
	}
	cert, err := claims.Sign(w.ca)
	require.NoError(w.T, err)
	return Party{Key: key, Certificate: cert}
}

// Newer signs the next configuration.
func (w *World) Newer(change func(*group.Settings)) *group.Group {
	w.T.Helper()
	s := w.Group.Config().Settings()
	s.Version++
	change(&s)
	config, err := s.Sign(w.Group.ID(), w.ca)
	require.NoError(w.T, err)
	g, err := w.Group.WithConfig(config)
	require.NoError(w.T, err)
	return g
}

// Rotate gives the CA another key. The configuration that it signs keeps the key before in force, unless that is to be retired.
func (w *World) Rotate() *group.Group {
	w.T.Helper()
	next := Key(w.T)
	s := w.Group.Config().Settings()
	now := time.Now().Truncate(time.Second)
	statement, err := group.Statement{
		Version: s.Version + 1, Name: s.Name, Group: w.Group.ID(), Key: next.Public().Bytes(), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
	}.Sign(w.ca)
	require.NoError(w.T, err)
	w.Group, err = w.Group.WithAuthority(statement.Raw())
	require.NoError(w.T, err)
	w.ca = next
	w.Group = w.Newer(func(s *group.Settings) { s.Authorities = append(s.Authorities, certificate.AuthorityID(next.Public())) })
	return w.Group
}

// Retire retires all CA keys but the one that signs.
func (w *World) Retire() *group.Group {
	w.T.Helper()
	w.Group = w.Newer(func(s *group.Settings) { s.Authorities = s.Authorities[len(s.Authorities)-1:] })
	return w.Group
}

// Revoke signs the revocation of a member.
func (w *World) Revoke(m ident.Member) []byte {
	w.T.Helper()
	w.revoked++
	r, err := certificate.Revocation{Version: w.revoked, Member: m, Serial: 1, Reason: "left", Time: uint64(time.Now().UnixMilli())}.Sign(w.Group.ID(), w.ca)
	require.NoError(w.T, err)
	return r.Raw()
}

// Certificates gives the certificate of a member, as clients ask for it.
func (w *World) Certificates(m ident.Member) []byte {
	for _, p := range w.Members {
		if p.ID() == m {
			return p.Certificate.Raw()
		}
	}
	return nil
}

// Custody is a title with the one before it.
type Custody struct{ Title, Before token.Title }

// Mint makes a token of a member.
func (w *World) Mint(by int) Custody {
	w.T.Helper()
	w.sequel++
	g, err := token.GenesisBody{
		Resource: Resource, Generator: w.Members[by].ID(), Sequence: w.sequel, Time: uint64(time.Now().UnixMilli()),
	}.Sign(w.Group.ID(), w.Members[by].Key)
	require.NoError(w.T, err)
	return Custody{Title: token.Title{Genesis: g}}
}

// Passed is what a member holds to whom the holder has passed the token.
func (w *World) Passed(c Custody, from, to int) Custody {
	w.T.Helper()
	tr, err := c.Title.Next(w.Members[to].ID(), ident.Reservation{Number: 1}).Sign(w.Group.ID(), w.Members[from].Key)
	require.NoError(w.T, err)
	return Custody{Title: token.Title{Genesis: c.Title.Genesis, Transfer: tr}, Before: c.Title}
}

// AsGate gives a gate's certificate its role.
func AsGate(c *certificate.Claims) { c.Role = certificate.GateRole }

// resourceOf is the tests' Resource with its gate.
func resourceOf(id ident.Group, key *signature.PrivateKey) group.Resource {
	pub := key.Public().Bytes()
	return group.Resource{
		Name: Resource, MaxHold: MaxHold, Params: policy.Params{OperationTime: MaxHold, MembersMax: 3},
		Gate: group.Gate{
			Member: ident.MemberOf(id, pub[:]), Address: "127.0.0.1:4135", Settle: Settle, Keep: Keep, OpenTimeout: HookTime, CloseTimeout: HookTime,
		},
	}.WithDefaults()
}

// Said is the next answer of a session, of a kind.
func Said[A core.Answer](t testing.TB, s *client.Session) A {
	t.Helper()
	a := await.Next(t, "an answer", s.Answers())
	require.False(t, a.IsZero(), "the session has ended")
	require.IsType(t, *new(A), a.Body().Answer)
	return a.Body().Answer.(A)
}

// Opened waits for OPEN, through any BUSY.
func Opened(t testing.TB, s *client.Session) core.OpenAnswer {
	t.Helper()
	for {
		a := await.Next(t, "an answer", s.Answers())
		require.False(t, a.IsZero(), "the session has ended")
		if open, ok := a.Body().Answer.(core.OpenAnswer); ok {
			return open
		}
		require.IsType(t, core.BusyAnswer{}, a.Body().Answer)
	}
}

// Ended waits for the last answer of a session.
func Ended(t testing.TB, s *client.Session) core.Answer {
	t.Helper()
	var last wire.SignedAnswer
	for {
		a := await.Next(t, "the last answer", s.Answers())
		if a.IsZero() {
			break
		}
		last = a
	}
	if last.IsZero() {
		return nil
	}
	return last.Body().Answer
}

// Write writes the files that wander gate reads, as wander join makes them.
func (w *World) Write(dir string) {
	w.T.Helper()
	certificate, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: w.Gate.Certificate.Raw()})
	require.NoError(w.T, err)
	groups, err := keyfile.EncodeBlocks(w.Group.Blocks()...)
	require.NoError(w.T, err)
	key, err := keyfile.EncodePrivateKey(w.Gate.Key)
	require.NoError(w.T, err)
	require.NoError(w.T, os.MkdirAll(dir, 0o700))
	for name, text := range map[string][]byte{"member.crt": certificate, "group.crt": groups, "member.key": key} {
		require.NoError(w.T, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}

// SignIn signs in with what a member holds.
func (w *World) SignIn(c *client.Conn, held Custody, length time.Duration) *client.Session {
	w.T.Helper()
	s, err := c.SignIn(held.Title, held.Before, w.Certificates, length)
	require.NoError(w.T, err)
	return s
}

// Client is the configuration of a member's client.
func (w *World) Client(address string, p Party) client.Config {
	return client.Config{
		Address: address, Resource: Resource, Gate: w.Gate.ID(), Group: func() *group.Group { return w.Group }, Certificate: p.Certificate, Key: p.Key,
	}
}

// WriteJournal writes the journal of a gate whose last sessions have ended, of as many places: without a journal it lets nobody in for max_hold.
// The numbers of its sessions are above floor.
func WriteJournal(t testing.TB, dir string, g ident.Group, m ident.Member, floor uint64, places int) {
	t.Helper()
	st, _, err := store.Open(dir, store.Options{Group: g, Member: m})
	require.NoError(t, err)
	records := []core.Record{&core.BeginRecord{Floor: floor}}
	for i := range places {
		records = append(records, &core.ClosedRecord{Slot: uint64(i), Reason: core.ByRestart})
	}
	for _, r := range records {
		body, err := core.Encode(1, r)
		require.NoError(t, err)
		_, err = st.Append(body)
		require.NoError(t, err)
	}
	require.NoError(t, st.Sync())
	require.NoError(t, st.Close())
}

// Accept accepts each gate.
func Accept(certificate.Certificate) error { return nil }
