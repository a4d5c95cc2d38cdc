package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// newMember is the key and the certificate that ca issue makes, files with one
// prefix. The key gets its name last, when the certificate that makes it useful is
// there. Until then it has a name that nobody takes for a member's key: a run that
// is killed leaves that, or nothing, and the next one goes on with the same key, and
// so with the same member.
type newMember struct{ prefix string }

func (m newMember) keyFile() string     { return m.prefix + ".key" }
func (m newMember) certificate() string { return m.prefix + ".crt" }

// pendingKey is the key's file until the certificate is there.
func (m newMember) pendingKey() string {
	return filepath.Join(filepath.Dir(m.prefix), "."+filepath.Base(m.prefix)+".key.new")
}

// issueWithNewKey makes a member with its key. A key is durable before anything is
// signed for it: a certificate without its key would only keep the name from others.
func (f caIssueFlags) issueWithNewKey(a *ca.Authority) (certificate.Certificate, error) {
	m := newMember{f.prefix(f.name)}
	if err := m.checkFree(a); err != nil {
		return certificate.Certificate{}, err
	}
	r := ca.Request{Name: f.name, Role: f.role(), Class: f.classOf(), Lifetime: f.lifetime.Duration}
	key, cert, err := m.issue(a, r)
	if errors.Is(err, ca.ErrRevoked) || errors.Is(err, ca.ErrLeft) {
		// The member of a run that was killed, which somebody has revoked since.
		if err := os.Remove(m.pendingKey()); err != nil {
			return certificate.Certificate{}, err
		}
		key, cert, err = m.issue(a, r)
	}
	if err != nil {
		return certificate.Certificate{}, err
	}
	if err := putCertificate(m.certificate(), cert); err != nil {
		return certificate.Certificate{}, err
	}
	return cert, m.nameKey(key)
}

// nameKey gives the pending key its name. A second run for the same name, which has
// failed meanwhile, may have taken the file away.
func (m newMember) nameKey(key *signature.PrivateKey) error {
	err := atomicfile.Rename(m.pendingKey(), m.keyFile())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return createKey(m.keyFile(), key)
}

// issue certifies the pending key, and makes it first if there is none. A key that it
// has made and to which nothing was issued it removes.
func (m newMember) issue(a *ca.Authority, r ca.Request) (*signature.PrivateKey, certificate.Certificate, error) {
	key, made, err := m.key()
	if err != nil {
		return nil, certificate.Certificate{}, err
	}
	r.Key = key.Public()
	cert, err := a.Issue(r)
	if err != nil && made && errors.Is(a.Eligible(memberOf(a, r.Key)), ca.ErrUnknown) {
		err = errors.Join(err, os.Remove(m.pendingKey()))
	}
	return key, cert, err
}

func memberOf(a *ca.Authority, key *signature.PublicKey) ident.Member {
	public := key.Bytes()
	return ident.MemberOf(a.Group(), public[:])
}

// checkFree refuses to replace files. The certificate of the pending key may be
// there: it was written just before the end of a run that was killed.
func (m newMember) checkFree(a *ca.Authority) error {
	if sameFile(m.pendingKey(), m.keyFile()) { // killed between giving the one name and taking the other
		if err := os.Remove(m.pendingKey()); err != nil {
			return err
		}
	}
	for _, name := range []string{m.keyFile(), m.certificate()} {
		if exists(name) && !(name == m.certificate() && m.isPending(a)) {
			return &cli.Error{
				Code: cli.ExitUsage, Err: fmt.Errorf("%s already exists", name),
				Hint: "to certify the existing key, give --key " + m.keyFile(),
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, errX := os.Lstat(a)
	y, errY := os.Lstat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// isPending reports whether the certificate that is there is the pending key's.
func (m newMember) isPending(a *ca.Authority) bool {
	key, err := readPrivateKey(m.pendingKey())
	if err != nil {
		return false
	}
	text, err := cli.ReadSmall(m.certificate(), maxKeyFile)
	if err != nil {
		return false
	}
	certified, err := publicKeyIn(text, a)
	return err == nil && certified.Equal(key.Public())
}

// key is the pending key, made if there is none: whole and durable, or not there.
func (m newMember) key() (key *signature.PrivateKey, made bool, err error) {
	key, err = readPrivateKey(m.pendingKey())
	if !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	if key, err = signature.Generate(rand.Reader); err != nil {
		return nil, false, err
	}
	err = createKey(m.pendingKey(), key)
	if errors.Is(err, fs.ErrExist) { // another run was faster
		key, err = readPrivateKey(m.pendingKey())
		return key, false, err
	}
	return key, true, err
}
