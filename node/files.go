package node

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// saveCertificate puts a renewed certificate in the place of the file's, so that
// a restart finds it.
func (a *authority) saveCertificate(c certificate.Certificate) error {
	name := a.n.cfg.CertificateFile
	if name == "" {
		return nil
	}
	return replaceBlocks(name, keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
}

// saveGroup puts the CA keys and the configuration in force into the group file,
// unless it has them. The journal has them too; but the file is read first, and
// must know the CA key that has signed this member's certificate.
func (a *authority) saveGroup() {
	name := a.n.cfg.GroupFile
	if name == "" {
		return
	}
	if err := updateGroupFile(name, a.n.currentGroup()); err != nil {
		a.n.log.Warn("group file not rewritten; the journal has the newer configuration", "error", err)
	}
}

func updateGroupFile(name string, g *group.Group) error {
	old, err := readBlocks(name)
	if err != nil {
		return err
	}
	there, _, err := group.Load(old)
	if err == nil && there.Config().Version() >= g.Config().Version() {
		return nil
	}
	blocks := g.Blocks()
	for _, b := range old {
		if b.Type != keyfile.CACertificate && b.Type != keyfile.GroupConfiguration {
			blocks = append(blocks, b)
		}
	}
	return replaceBlocks(name, blocks...)
}

// replaceBlocks replaces a file in one step, durably: after a crash there is the
// old content or the new.
func replaceBlocks(name string, blocks ...keyfile.Block) error {
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	if err := replaceFile(name, text); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return nil
}

func replaceFile(name string, data []byte) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*.new")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which is gone when all went well
	if info, err := os.Stat(name); err == nil {
		_ = f.Chmod(info.Mode()) // as it was, if that is possible
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return err
	}
	return store.OS().SyncDir(dir)
}
