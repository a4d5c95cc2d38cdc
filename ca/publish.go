package ca

import (
	"fmt"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
)

// maxPublished bounds the revocations in the published group file, the newest
// ones: with them it stays below 4 MB, far from what a reader of such files
// refuses. Members pass older ones on among themselves.
const maxPublished = 8192

// publishAll makes what a crash may have left unmade: what depends on the log
// as a whole, and on its last line.
func (f folder) publishAll(s *state) error {
	if err := f.publishGroup(s); err != nil {
		return err
	}
	return f.publishLast(s)
}

// publishLast makes what the last line of the log says.
func (f folder) publishLast(s *state) error {
	switch e := s.last; e.Event {
	case created:
		if err := f.publishBlocks(CAFile, keyfile.Block{Type: keyfile.CACertificate, Bytes: e.Object}); err != nil {
			return err
		}
		return f.publishGroup(s)
	case configured:
		return f.publishGroup(s)
	case issued:
		name := fmt.Sprintf("%08d-%s.crt", e.Serial, e.Name)
		return f.publishBlocks(filepath.Join(IssuedDir, name), keyfile.Block{Type: keyfile.Certificate, Bytes: e.Object})
	case revoked:
		name := fmt.Sprintf("%08d-%v.rev", e.Number, e.Member)
		if err := f.publishBlocks(filepath.Join(RevokedDir, name), keyfile.Block{Type: keyfile.Revocation, Bytes: e.Object}); err != nil {
			return err
		}
		return f.publishGroup(s)
	}
	return nil
}

// publishGroup makes the group file: the CA certificate, the configuration once
// there is one, and the newest revocations, ascending by version.
func (f folder) publishGroup(s *state) error {
	blocks := []keyfile.Block{{Type: keyfile.CACertificate, Bytes: s.authority.Raw()}}
	if !s.config.IsZero() {
		blocks = append(blocks, keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: s.config.Raw()})
	}
	for _, r := range s.revocations[max(0, len(s.revocations)-maxPublished):] {
		blocks = append(blocks, keyfile.Block{Type: keyfile.Revocation, Bytes: r.raw})
	}
	return f.publishBlocks(GroupFile, blocks...)
}

func (f folder) publishBlocks(file string, blocks ...keyfile.Block) error {
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	return f.publish(file, text)
}
