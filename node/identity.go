package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/internal/credential"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
)

// maxFile bounds the identity files, in bytes. A group file may hold the
// certificates and endpoint records of some thousand members.
const maxFile = 16 << 20

// LoadIdentity reads who a member is from its three files. The private key
// must not be readable by others. Errors match ErrIdentity.
func LoadIdentity(certificateFile, keyFile, groupFile string) (Identity, error) {
	id, err := LoadCertificate(certificateFile, groupFile)
	if err != nil {
		return id, err
	}
	if id.Key, err = loadKey(keyFile); err != nil {
		return id, err
	}
	if id.Key.Public().Bytes() != id.Certificate.Key().Bytes() {
		return id, fmt.Errorf("%w: %s is not the key of %s", ErrIdentity, keyFile, certificateFile)
	}
	return id, nil
}

// LoadCertificate reads what others may read of who a member is: Key is nil. Errors match ErrIdentity.
func LoadCertificate(certificateFile, groupFile string) (Identity, error) {
	id := Identity{CertificateFile: certificateFile, GroupFile: groupFile}
	blocks, err := readBlocks(groupFile)
	if err != nil {
		return id, err
	}
	if id.Group, id.Extra, err = group.Load(blocks); err != nil {
		return id, fmt.Errorf("%w: %s: %w", ErrIdentity, groupFile, err)
	}
	id.Certificate, err = loadCertificate(certificateFile, id.Group)
	return id, err
}

func readBlocks(name string) ([]keyfile.Block, error) {
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrIdentity, name, err)
	}
	return blocks, nil
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d", ErrIdentity, name, info.Size(), maxFile)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return text, nil
}

func loadCertificate(name string, g *group.Group) (certificate.Certificate, error) {
	blocks, err := readBlocks(name)
	if err != nil {
		return certificate.Certificate{}, err
	}
	if len(blocks) != 1 || blocks[0].Type != keyfile.Certificate {
		return certificate.Certificate{}, fmt.Errorf("%w: %s does not hold exactly one member certificate", ErrIdentity, name)
	}
	// One of a CA key that has been retired will do to ask the CA for another.
	c, err := certificate.ParseAny(g.ID(), blocks[0].Bytes, g.History())
	if err != nil {
		return c, fmt.Errorf("%w: %s: %w", ErrIdentity, name, err)
	}
	return c, nil
}

var errEncrypted = errors.New("a daemon cannot ask for a passphrase: use an unencrypted key")

func loadKey(name string) (*signature.PrivateKey, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if err := credential.CheckMode(name, info.Mode()); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrIdentity, name, err)
	}
	text, err := readFile(name)
	if err != nil {
		return nil, err
	}
	key, err := keyfile.DecodePrivateKey(text, func() ([]byte, error) { return nil, errEncrypted })
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrIdentity, name, err)
	}
	return key, nil
}

// resetKeyFile holds the key of stateless resets, which has to outlive the
// process: peers then notice a restart at once.
const resetKeyFile = "reset.key"

// ResetKey is the key of stateless resets that is kept in a folder: a gate needs one, too.
func ResetKey(dir string) (key [32]byte, err error) { return resetKey(dir) }

// resetKey reads the stateless-reset key, or makes it. A short file is what a
// crash in the middle of making it leaves; it is made anew.
func resetKey(dir string) (key [32]byte, err error) {
	name := filepath.Join(dir, resetKeyFile)
	old, err := os.ReadFile(name)
	if err == nil && len(old) == len(key) {
		copy(key[:], old)
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, err := rand.Read(key[:]); err != nil {
		return key, err
	}
	return key, atomicfile.Replace(name, key[:], 0o600) // a link is replaced, and not written through
}

// Reload reads the group file and the certificate again: a newer configuration,
// new members, revocations and a renewed certificate take effect at once. They
// must be of the same group and member. Errors match ErrIdentity.
func (n *Node) Reload() error {
	if err := n.reloadGroup(n.cfg.GroupFile); err != nil {
		return err
	}
	if n.cfg.CertificateFile == "" {
		return nil
	}
	c, err := loadCertificate(n.cfg.CertificateFile, n.currentGroup())
	if err != nil {
		return err
	}
	if c.Member() != n.self {
		return fmt.Errorf("%w: %s is another member's", ErrIdentity, n.cfg.CertificateFile)
	}
	if c.Role() != certificate.MemberRole {
		return fmt.Errorf("%w: %s: %w: %v", ErrIdentity, n.cfg.CertificateFile, certificate.ErrRole, c.Role())
	}
	if c.Body().NotAfter.After(n.authority.certificate().Body().NotAfter) {
		_, err = n.authority.take(c)
	}
	return err
}

func (n *Node) reloadGroup(groupFile string) error {
	blocks, err := readBlocks(groupFile)
	if err != nil {
		return err
	}
	g, extra, err := group.Load(blocks)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrIdentity, groupFile, err)
	}
	if g.ID() != n.cfg.Group.ID() {
		return fmt.Errorf("%w: %s is of another group", ErrIdentity, groupFile)
	}
	learn := member.Learn{
		Certificates: extra.Certificates, Endpoints: extra.Endpoints,
		Revocations: extra.Revocations, Leaves: extra.Leaves,
	}
	if g.Config().Version() > n.currentGroup().Config().Version() {
		learn.Configuration, learn.Authorities = g.Config().Raw(), g.Vouchers()
	}
	n.engine.do(learn)
	return nil
}
