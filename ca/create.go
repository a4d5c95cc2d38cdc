package ca

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// defaultLifetime is that of a CA key. It should be replaced before (see
	// IntroduceKey), because no certificate outlives the key that signed it.
	defaultLifetime = 10 * 365 * 24 * time.Hour
	// maxLifetime bounds it: nobody can say what a signature is worth later.
	maxLifetime = 30 * 365 * 24 * time.Hour
	// backdate is how long before its issuance the validity of a certificate
	// begins, so that a member whose clock is slow accepts it at once.
	backdate = time.Hour
)

// CreateOptions describe a new authority.
type CreateOptions struct {
	Options
	// Name of the group, see group.CheckName.
	Name string
	// Secret is the passphrase to encrypt the key with; empty leaves it in the
	// clear.
	Secret []byte
	// Lifetime of the CA certificate; 0 means ten years.
	Lifetime time.Duration
}

// Create makes an authority in a directory, which is made too if need be. The
// private key gets its name last: a creation that a crash cut short can be
// tried again, and after one that was not, ca.key is there. Errors: ErrExists,
// group.ErrName, ErrLifetime, ErrLocked, and those of the disk.
func Create(dir string, o CreateOptions) (*Authority, error) {
	o.Options = o.Options.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	f := folder{disk: o.disk, path: dir}
	if err := f.makeDirs(); err != nil {
		return nil, err
	}
	if err := o.create(f); err != nil {
		return nil, err
	}
	return Open(dir, o.Options)
}

func (o *CreateOptions) check() error {
	var err error
	if o.Lifetime, err = checkLifetime(o.Lifetime); err != nil {
		return err
	}
	return group.CheckName(o.Name)
}

// checkLifetime fills in and checks the lifetime of a CA key.
func checkLifetime(lifetime time.Duration) (time.Duration, error) {
	if lifetime == 0 {
		lifetime = defaultLifetime
	}
	if lifetime < time.Second || lifetime > maxLifetime {
		return 0, fmt.Errorf("%w: %s, must be 1s to %s", ErrLifetime, duration.Format(lifetime), duration.Format(maxLifetime))
	}
	return lifetime, nil
}

func (f folder) makeDirs() error {
	for _, dir := range []string{f.path, f.name(issuedDir), f.name(revokedDir), f.name(evidenceDir)} {
		if err := f.disk.MkdirAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func (o *CreateOptions) create(f folder) error {
	lock, err := f.lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := f.isFree(); err != nil {
		return err
	}
	key, err := signature.Generate(o.Rand)
	if err != nil {
		return err
	}
	if err := o.writeKey(f, key); err != nil {
		return err
	}
	e, err := o.firstEntry(key)
	if err != nil {
		return err
	}
	_, line, err := chain{}.encode(e)
	if err != nil {
		return err
	}
	if err := f.write(LogFile, line); err != nil {
		return err
	}
	if err := f.disk.Rename(f.name(newKeyFile), f.name(KeyFile)); err != nil {
		return err
	}
	return f.disk.SyncDir(f.path)
}

// isFree refuses a directory where there is an authority. One whose creation
// was cut short still has its key under the name for new ones; a log without
// either means that somebody took the key away.
func (f folder) isFree() error {
	there, err := f.present(KeyFile, newKeyFile, LogFile)
	if err != nil {
		return err
	}
	switch key, newKey, log := there[0], there[1], there[2]; {
	case key:
		return fmt.Errorf("%w: %s", ErrExists, f.name(KeyFile))
	case log && !newKey:
		return fmt.Errorf("%w: %s exists, but its key is missing", ErrExists, f.name(LogFile))
	}
	return nil
}

func (o *CreateOptions) writeKey(f folder, key *signature.PrivateKey) error {
	text, err := o.encode(key, o.Secret)
	if err != nil {
		return err
	}
	return f.write(newKeyFile, text)
}

func (o *CreateOptions) firstEntry(key *signature.PrivateKey) (entry, error) {
	now, public := o.now(), key.Public().Bytes()
	statement := group.Statement{
		Name: o.Name, Group: ident.GroupOf(public[:]), Key: public,
		NotBefore: now.Add(-backdate), NotAfter: now.Add(o.Lifetime),
	}
	authority, err := statement.Sign(key)
	if err != nil {
		return entry{}, err
	}
	s := authority.Body()
	return entry{
		Time: now, Event: created, Name: s.Name, NotBefore: &s.NotBefore, NotAfter: &s.NotAfter, Object: authority.Raw(),
	}, nil
}
