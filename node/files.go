package node

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// saveCertificate puts a renewed certificate in the place of the file's, so that
// a restart finds it. It needs a.files.
//
// The group file is read first at a restart, and must then know the CA key that
// has signed this member's certificate: so it is written first.
func (a *authority) saveCertificate(c certificate.Certificate) error {
	if name := a.n.cfg.GroupFile; name != "" {
		if err := updateGroupFile(name, a.n.currentGroup()); err != nil {
			return err
		}
	}
	name := a.n.cfg.CertificateFile
	if name == "" {
		return nil
	}
	return replaceBlocks(name, keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
}

// saveGroup puts the CA keys and the configuration in force into the group file,
// unless it has them.
func (a *authority) saveGroup() {
	name := a.n.cfg.GroupFile
	if name == "" {
		return
	}
	a.files.Lock()
	defer a.files.Unlock()
	if err := updateGroupFile(name, a.n.currentGroup()); err != nil {
		a.n.log.Warn("cannot rewrite group file; the journal has the newer configuration", "error", err)
	}
}

func updateGroupFile(name string, g *group.Group) error {
	old, err := readBlocks(name)
	if err != nil {
		return err
	}
	if there, _, err := group.Load(old); err == nil && hasAllOf(there, g) {
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

// hasAllOf reports whether a group is under a newer configuration than another,
// or under the same and knows all of its CA keys.
func hasAllOf(there, g *group.Group) bool {
	if has, is := there.Config().Version(), g.Config().Version(); has != is {
		return has > is
	}
	return !slices.ContainsFunc(g.Authorities(), func(a group.Authority) bool { return there.History().Key(a.ID()) == nil })
}

// replaceBlocks replaces a file in one step, durably: after a crash there is the
// old content or the new.
func replaceBlocks(name string, blocks ...keyfile.Block) error {
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm() // as it was
	}
	if err := atomicfile.Replace(name, text, mode); err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	return nil
}
