package ca

import (
	"crypto"
	"errors"
	"fmt"
	"io/fs"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// keyRing are the private keys that have been read, and the passphrase that
// opened them: one passphrase is for all keys of an authority.
type keyRing struct {
	keys   map[[envelope.KeyIDSize]byte]*signature.PrivateKey
	secret []byte
}

// keyName is the file of the n-th key, from 1 on.
func keyName(n int) string {
	if n == 1 {
		return KeyFile
	}
	return fmt.Sprintf("ca-%d.key", n)
}

// errRotated says that another process has made another key the one that
// signs, between reading the key and taking the lock.
var errRotated = errors.New("another key signs now")

// rotationTries bounds how often that is followed: keys change a few times in a
// group's life.
const rotationTries = 4

// signing is locked with the private key that signs.
func (a *Authority) signing(change func(key *signature.PrivateKey) error) error {
	return a.with(func(s *state) (group.Authority, error) { return s.signer(), nil }, change)
}

// with is locked with the private key of one of the CA's keys. The passphrase is
// asked for without the lock.
func (a *Authority) with(which func(*state) (group.Authority, error), change func(key *signature.PrivateKey) error) error {
	err := errRotated
	for range rotationTries {
		key, e := a.keyOf(which)
		if e != nil {
			return e
		}
		err = a.locked(func() error {
			wanted, err := which(a.state)
			if err == nil && wanted.ID() != certificate.AuthorityID(key.Public()) {
				err = errRotated
			}
			if err != nil {
				return err
			}
			return change(key)
		})
		if !errors.Is(err, errRotated) {
			break
		}
	}
	return err
}

// keyOf is a private key, as far as this process knows which is wanted. What
// that is, another process may have changed: so it looks first.
func (a *Authority) keyOf(which func(*state) (group.Authority, error)) (*signature.PrivateKey, error) {
	number := 0
	err := a.locked(func() error {
		wanted, err := which(a.state)
		if err == nil {
			number = a.state.numberOf(wanted.ID())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.privateKey(number)
}

// privateKey is the n-th private key, read once. Needs a.mu.
func (a *Authority) privateKey(n int) (*signature.PrivateKey, error) {
	id := a.state.authorities[n-1].ID()
	if key := a.ring.keys[id]; key != nil {
		return key, nil
	}
	key, err := a.readKey(keyName(n))
	if err != nil {
		return nil, err
	}
	if certificate.AuthorityID(key.Public()) != id {
		return nil, fmt.Errorf("%s: %w", a.folder.name(keyName(n)), ErrKeyMismatch)
	}
	if a.ring.keys == nil {
		a.ring.keys = make(map[[envelope.KeyIDSize]byte]*signature.PrivateKey)
	}
	a.ring.keys[id] = key
	return key, nil
}

// readKey reads a private key. Needs a.mu.
func (a *Authority) readKey(file string) (*signature.PrivateKey, error) {
	name := a.folder.name(file)
	mode, err := a.folder.disk.Mode(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoKey, name)
	}
	if err != nil {
		return nil, err
	}
	if err := keyfile.CheckMode(mode); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := a.folder.read(file, maxKeyBytes)
	if err != nil {
		return nil, err
	}
	key, err := keyfile.DecodePrivateKey(text, a.passphrase())
	if err != nil {
		a.ring.secret = nil // it may have been mistyped
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// passphrase is the one that opened a key before, or asks. nil means that
// nobody can be asked. Needs a.mu.
func (a *Authority) passphrase() func() ([]byte, error) {
	if a.options.Passphrase == nil {
		return nil
	}
	return func() ([]byte, error) {
		if a.ring.secret != nil {
			return a.ring.secret, nil
		}
		secret, err := a.options.Passphrase()
		a.ring.secret = secret
		return secret, err
	}
}

// Signer is the CA key that signs now, for what certifies the authority's own
// services; nothing that a member holds is to be signed with it but by the
// methods of this package. Errors: ErrLocked, ErrBroken, those of opening the
// key (see Issue), and those of the disk.
func (a *Authority) Signer() (group.Authority, crypto.Signer, error) {
	var (
		statement group.Authority
		signer    crypto.Signer
	)
	err := a.signing(func(key *signature.PrivateKey) error {
		statement, signer = a.state.signer(), key.StdKey()
		return nil
	})
	return statement, signer, err
}
