package ca

import (
	"crypto/rand"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
)

// Equip makes a key, issues a certificate for it, and writes both into a folder, as
// member.key and member.crt. It is meant for groups that do not outlive a run: after a
// crash the files may be missing.
func (a *Authority) Equip(dir, name string) error {
	key, err := signature.Generate(rand.Reader)
	if err != nil {
		return err
	}
	text, err := keyfile.EncodePrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "member.key"), text, 0o600); err != nil {
		return err
	}
	c, err := a.Issue(Request{Name: name, Key: key.Public()})
	if err != nil {
		return err
	}
	text, err = keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "member.crt"), text, 0o600)
}
