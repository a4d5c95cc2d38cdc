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

// keyRing has the private keys of an authority's folder: those that have been read, and
// the passphrase that opened them. One passphrase is for all keys of an authority.
type keyRing struct {
	folder  folder
	options Options
	keys    map[[envelope.KeyIDSize]byte]*signature.PrivateKey
	secret  []byte
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
func (a *Authority) signing(change func(l *ledger, key *signature.PrivateKey) error) error {
	return a.with(func(s *state) (group.Authority, error) { return s.signer(), nil }, change)
}

// with is locked with the private key of one of the CA's keys. The passphrase is
// asked for without the lock.
func (a *Authority) with(which func(*state) (group.Authority, error), change func(l *ledger, key *signature.PrivateKey) error) error {
	err := errRotated
	for range rotationTries {
		key, e := a.keyOf(which)
		if e != nil {
			return e
		}
		err = a.locked(func(l *ledger) error {
			wanted, err := which(l.state)
			if err == nil && wanted.ID() != certificate.AuthorityID(key.Public()) {
				err = errRotated
			}
			if err != nil {
				return err
			}
			return change(l, key)
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
	var (
		wanted group.Authority
		number int
	)
	err := a.locked(func(l *ledger) (err error) {
		if wanted, err = which(l.state); err == nil {
			number = l.state.numberOf(wanted.ID())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.keys.key(number, wanted.ID())
}

// key is the n-th private key, which has this id, read once.
func (r *keyRing) key(n int, id [envelope.KeyIDSize]byte) (*signature.PrivateKey, error) {
	if key := r.keys[id]; key != nil {
		return key, nil
	}
	key, err := r.read(keyName(n))
	if err != nil {
		return nil, err
	}
	if certificate.AuthorityID(key.Public()) != id {
		return nil, fmt.Errorf("%s: %w", r.folder.name(keyName(n)), ErrKeyMismatch)
	}
	if r.keys == nil {
		r.keys = make(map[[envelope.KeyIDSize]byte]*signature.PrivateKey)
	}
	r.keys[id] = key
	return key, nil
}

// read reads a private key.
func (r *keyRing) read(file string) (*signature.PrivateKey, error) {
	name := r.folder.name(file)
	mode, err := r.folder.disk.Mode(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoKey, name)
	}
	if err != nil {
		return nil, err
	}
	if err := keyfile.CheckMode(mode); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := r.folder.read(file, maxKeyBytes)
	if err != nil {
		return nil, err
	}
	key, err := keyfile.DecodePrivateKey(text, r.passphrase())
	if err != nil {
		r.secret = nil // it may have been mistyped
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// next makes the n-th private key and writes it to disk. It must differ from the known keys.
// A key that is there already was made by an attempt that a crash cut short. It has signed
// nothing, and next returns it, because no key is ever overwritten.
func (r *keyRing) next(n int, known certificate.Authorities) (*signature.PrivateKey, error) {
	file := keyName(n)
	there, err := r.folder.exists(file)
	if err != nil {
		return nil, err
	}
	if there {
		return r.read(file)
	}
	key, err := signature.Generate(r.options.Rand)
	if err != nil {
		return nil, err
	}
	if known.Key(certificate.AuthorityID(key.Public())) != nil {
		return nil, fmt.Errorf("%w: the new key was used before", ErrKeyMismatch)
	}
	text, err := r.options.encode(key, r.secret)
	if err != nil {
		return nil, err
	}
	return key, r.folder.write(file, text)
}

// encode is the text of a private key, in the clear if there is no passphrase.
func (o Options) encode(key *signature.PrivateKey, secret []byte) ([]byte, error) {
	if len(secret) == 0 {
		return keyfile.EncodePrivateKey(key)
	}
	return keyfile.EncryptPrivateKey(key, secret, o.WorkFactor)
}

// passphrase is the one that opened a key before, or asks. nil means that
// nobody can be asked.
func (r *keyRing) passphrase() func() ([]byte, error) {
	if r.options.Passphrase == nil {
		return nil
	}
	return func() ([]byte, error) {
		if r.secret != nil {
			return r.secret, nil
		}
		secret, err := r.options.Passphrase()
		r.secret = secret
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
	err := a.signing(func(l *ledger, key *signature.PrivateKey) error {
		statement, signer = l.state.signer(), key.StdKey()
		return nil
	})
	return statement, signer, err
}
