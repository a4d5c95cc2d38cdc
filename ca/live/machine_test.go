package live_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/journal"
)

// machine is one member with its files.
type machine struct {
	*node.Node
	w         *world
	name, dir string
	id        ident.Member
	listen    string // empty: it only dials out
	peers     []string
	key       *signature.PrivateKey
	log       logBook
	ran       atomic.Int64 // operations
	up        bool
}

// join makes a machine a member, over the network.
func (w *world) join(name string) *machine {
	w.Helper()
	m := &machine{w: w, name: name, dir: w.TempDir(), listen: ports.Address(w)}
	var err error
	m.key, err = signature.Generate(rand.Reader)
	require.NoError(w, err)
	text, err := keyfile.EncodePrivateKey(m.key)
	m.write("member.key", text, err)
	w.rejoin(m)
	w.machines = append(w.machines, m)
	w.Cleanup(m.kill)
	return m
}

// rejoin enrols a machine with the key that it has.
func (w *world) rejoin(m *machine) {
	w.Helper()
	var enrolled enrolment.Enrolled
	var err error
	line := w.invite(m.name)
	w.until(m.name+" reaches the authority", func() bool {
		enrolled, err = m.enrol(line)
		return !errors.Is(err, enrolment.ErrUnreachable) // it is, by a slow machine
	})
	require.NoError(w, err)
	m.id = enrolled.Certificate.Member()
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: enrolled.Certificate.Raw()})
	m.write("member.crt", text, err)
	text, err = keyfile.EncodeBlocks(enrolled.Group.Blocks()...)
	m.write("group.crt", text, err)
}

func (w *world) invite(name string) invite.Invite {
	w.Helper()
	made, err := w.ca.Invite(name, time.Hour)
	require.NoError(w, err)
	by, _, err := w.ca.Signer()
	require.NoError(w, err)
	return invite.Invite{
		Group: w.ca.Group(), Authority: by.ID(), Addresses: []string{w.address},
		ID: made.ID, Secret: made.Secret, Name: made.Name, Expires: made.Expires,
	}
}

func (m *machine) enrol(i invite.Invite) (enrolment.Enrolled, error) {
	r, err := certificate.Request{Name: m.name, Key: m.key.Public().Bytes()}.Sign(m.w.ca.Group(), m.key)
	require.NoError(m.w, err)
	return enrolment.Enrol(context.Background(), i, r, m.w.now)
}

func (m *machine) write(name string, text []byte, err error) {
	m.w.Helper()
	require.NoError(m.w, err)
	require.NoError(m.w, os.WriteFile(m.file(name), text, 0o600))
}

func (m *machine) file(name string) string { return filepath.Join(m.dir, name) }

// identity is what the files say.
func (m *machine) identity() (node.Identity, error) {
	return node.LoadIdentity(m.file("member.crt"), m.file("member.key"), m.file("group.crt"))
}

// open starts the node from its files.
func (m *machine) open(change func(*node.Config)) error {
	id, err := m.identity()
	if err != nil {
		return err
	}
	cfg := node.Config{
		Identity: id, StateDir: m.file("state"), Listen: m.listen, Bootstrap: m.peers, Authority: []string{m.w.address},
		Found: m == m.w.machines[0], Socket: "-", Tuning: brisk, Now: m.w.now,
		Log:       slog.New(slog.NewTextHandler(&m.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Operation: node.Operation{Resource: resource, Run: m.operate},
	}
	if change != nil {
		change(&cfg)
	}
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	m.Node, m.up = n, true
	return nil
}

// start opens nodes; each knows the addresses of those before it.
func (w *world) start(machines ...*machine) {
	w.Helper()
	for _, m := range machines {
		m.peers = nil
		for _, o := range w.machines {
			if o != m && o.up && o.listen != "" {
				m.peers = append(m.peers, o.listen)
			}
		}
		require.NoError(w, m.open(nil))
	}
}

// operate is the protected operation: never two at once.
func (m *machine) operate(context.Context, api.Grant) api.ReleaseRequest {
	defer m.w.inside.Add(-1)
	if at := m.w.inside.Add(1); !m.w.many {
		assert.EqualValues(m.w, 1, at, "operations at once")
	}
	m.ran.Add(1)
	return api.ReleaseRequest{Operated: true}
}

// kill ends a node without its passing on what it holds.
func (m *machine) kill() {
	if !m.up {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.Close(ctx)
	m.up = false
}

// state is what one member calls another.
func (m *machine) state(of *machine) string {
	for _, info := range m.Members() {
		if info.Member == of.id {
			return info.State
		}
	}
	return "unknown"
}

// expiry is when the certificate of another ends, as far as a machine knows.
func (m *machine) expiry(of *machine) time.Time {
	for _, info := range m.Members() {
		if info.Member == of.id {
			return info.Expires
		}
	}
	return time.Time{}
}

// connected reports whether a machine has a connection with another.
func (m *machine) connected(with *machine) bool {
	return slices.ContainsFunc(m.Status().Peers, func(p api.PeerStatus) bool { return p.Member == with.id })
}

// ends waits for the end of a node, for this reason.
func (m *machine) ends(reason error) {
	m.w.Helper()
	m.w.until(m.name+" ends", func() bool { return m.Err() != nil })
	require.ErrorIs(m.w, m.Err(), reason)
	m.kill()
}

// journal is every record of a machine's journal, oldest first.
func (m *machine) journal() (list []audit.Entry) {
	for f, err := range store.Frames(nil, filepath.Join(m.dir, "state", "journal")) {
		if errors.Is(err, journal.ErrTorn) {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was never started
		}
		require.NoError(m.w, err)
		if f.FromCheckpoint || len(f.Body) == 0 {
			continue
		}
		at, r, err := journal.Decode(f.Body)
		require.NoError(m.w, err)
		list = append(list, audit.Entry{At: at, Record: r})
	}
	return list
}

// warnings are those of the member's status, but that it runs late: so does the
// machine that all of them share, now and then.
func (m *machine) warnings() (list []string) {
	for _, w := range m.Status().Warnings {
		if w.Cause != explain.Late {
			list = append(list, w.Sentence)
		}
	}
	return list
}
