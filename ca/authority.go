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
	options Options
	folder  folder

	mu     sync.Mutex
	state  *state
	end    chain
	broken bool
	ring   keyRing
}

// Open opens the authority in a directory, and completes what a crash left
// half done. Errors: ErrNoAuthority, *DamageError, ErrLocked, and those of the
// disk.
func Open(dir string, o Options) (*Authority, error) {
	o = o.withDefaults()
	a := &Authority{options: o, folder: folder{disk: o.disk, path: dir}}
	if err := a.folder.isAuthority(); err != nil {
		return nil, err
	}
	err := a.locked(func() error { return nil })
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

// locked calls change with the lock held and the state up to date. What fails
// before anything was written leaves the authority usable, and broken is set
// otherwise.
func (a *Authority) locked(change func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken {
		return ErrBroken
	}
	lock, err := a.folder.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := a.refresh(); err != nil {
		return err
	}
	return change()
}

// refresh reads on in the log if it is not as this process left it, cuts off
// what a crash left unfinished, and makes what is made from the log.
func (a *Authority) refresh() error {
	size, err := a.folder.size(LogFile)
	if err != nil {
		return err
	}
	if a.state != nil && size == a.end.size {
		return nil
	}
	if size < a.end.size {
		return &DamageError{File: a.folder.name(LogFile), Reason: errShrunk}
	}
	return a.readOn()
}

// readOn reads what is behind the end of the log that is known.
func (a *Authority) readOn() error {
	s, file := a.state, a.folder.name(LogFile)
	if s == nil {
		s = newState()
	}
	data, err := a.folder.disk.ReadFrom(file, a.end.size)
	if err != nil {
		return err
	}
	a.broken = true // until the state is whole again
	end, err := a.end.read(file, data, s.take)
	if err != nil {
		return err
	}
	if len(s.authorities) == 0 {
		return &DamageError{File: file, Reason: errCreation}
	}
	if err := a.folder.settle(LogFile, end.size); err != nil {
		return err
	}
	if err := a.folder.publishAll(s); err != nil {
		return err
	}
	a.state, a.end, a.broken = s, end, false
	return nil
}

// record makes an entry happen: durable in the log, then in the state, then in
// what is made from both. On an error this authority is of no further use,
// because it cannot know how far the entry got.
func (a *Authority) record(e entry) error {
	e, line, err := a.end.encode(e)
	if err != nil {
		return err
	}
	a.broken = true
	if err := a.folder.append(LogFile, line, a.end.size); err != nil {
		return err
	}
	if err := a.state.take(e); err != nil {
		return err
	}
	a.end.follow(e, len(line))
	if err := a.folder.publishLast(a.state); err != nil {
		return err
	}
	a.broken = false
	return nil
}

// now is the time in the precision of the log.
func (o Options) now() time.Time { return o.Now().UTC().Truncate(time.Millisecond) }

// Dir is the directory.
func (a *Authority) Dir() string { return a.folder.path }

// Group is the group's identifier.
func (a *Authority) Group() ident.Group { return a.Certificate().Statement().Group }

// Certificate is the statement about the group's first CA key.
func (a *Authority) Certificate() group.Authority {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.authorities[0]
}

// Key is one of the authority's keys by its id, also one that has been retired:
// an Authority is a certificate.Authorities that knows what it has ever signed. A
// certificate of a retired key shows who its member is, to whom a new one may be
// issued, and nothing else; and only together with Standing, because somebody
// else may have a key that was retired.
func (a *Authority) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Key(id)
}

// Parse reads a certificate that this authority issued, with whichever of its
// keys; see certificate.Parse. That it was issued says nothing about its
// member's standing today: see Standing.
func (a *Authority) Parse(raw []byte) (certificate.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return certificate.Parse(a.state.group(), raw, a.state)
}

// Config is the configuration that holds, as of the last operation; zero
// before the first one is signed.
func (a *Authority) Config() group.Config {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.config
}
