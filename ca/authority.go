package ca

import (
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// Options say what an authority takes from outside.
type Options struct {
	// Passphrase is asked for when something is to be signed with an encrypted
	// key, once. nil means that nobody can be asked.
	Passphrase func() ([]byte, error)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Rand makes keys; nil means crypto/rand.
	Rand io.Reader
	// WorkFactor is the cost of trying a passphrase; 0 means keyfile.WorkFactor. Tests
	// lower it.
	WorkFactor int

	disk disk // for tests
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.WorkFactor == 0 {
		o.WorkFactor = keyfile.WorkFactor
	}
	if o.disk == nil {
		o.disk = osDisk{store.OS()}
	}
	return o
}

// Authority is a group's certificate authority. It is safe for concurrent use,
// also by several processes.
type Authority struct {
	mu     sync.Mutex // guards the two
	ledger ledger
	keys   keyRing
}

// Open opens the authority in a directory, and completes what a crash left
// half done. Errors: ErrNoAuthority, ErrDamaged, ErrLocked, and those of the
// disk.
func Open(dir string, o Options) (*Authority, error) {
	o = o.withDefaults()
	f := folder{disk: o.disk, path: dir}
	if err := f.isAuthority(); err != nil {
		return nil, err
	}
	a := &Authority{ledger: ledger{options: o, folder: f}, keys: keyRing{options: o, folder: f}}
	err := a.locked(func(*ledger) error { return nil })
	if err != nil {
		return nil, err
	}
	return a, nil
}

// isAuthority returns ErrNoAuthority for a directory without one, or with one
// whose creation was cut short. The key may have been taken away.
func (f folder) isAuthority() error {
	there, err := f.present(KeyFile, newKeyFile, LogFile)
	if err != nil {
		return err
	}
	switch key, newKey, log := there[0], there[1], there[2]; {
	case !log:
		return fmt.Errorf("%w: %s does not exist", ErrNoAuthority, f.name(LogFile))
	case newKey && !key:
		return fmt.Errorf("%w: its creation in %s was not finished", ErrNoAuthority, f.path)
	}
	return nil
}

// locked calls change with the ledger up to date, while no other goroutine and no other
// process uses it.
func (a *Authority) locked(change func(l *ledger) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.locked(change)
}

// now is the time in the precision of the log.
func (o Options) now() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }

// Dir is the directory.
func (a *Authority) Dir() string { return a.ledger.folder.path }

// Group is the group's identifier.
func (a *Authority) Group() ident.Group { return a.Certificate().Body().Group }

// Certificate is the statement about the group's first CA key.
func (a *Authority) Certificate() group.Authority {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.state.authorities[0]
}

// Key is one of the authority's keys by its id, also one that has been retired:
// an Authority is a certificate.Authorities that knows what it has ever signed. A
// certificate of a retired key shows who its member is, to whom a new one may be
// issued, and nothing else; and only together with Eligible, because somebody
// else may have a key that was retired.
func (a *Authority) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.state.Key(id)
}

// Parse reads a certificate that this authority issued, of any role and with whichever of its
// keys; see certificate.ParseAny. That it was issued says nothing about its
// member is eligible today: see Eligible.
func (a *Authority) Parse(raw []byte) (certificate.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return certificate.ParseAny(a.ledger.state.group(), raw, a.ledger.state)
}

// Config is the configuration that holds, as of the last operation; zero
// before the first one is signed.
func (a *Authority) Config() group.Config {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ledger.state.config
}
