package ca

import (
	"fmt"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/ident"
)

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
	case created, introduced, configured:
		if err := f.publishBlocks(caFile, blocksOf(keyfile.CACertificate, s.publication().Authorities...)...); err != nil {
			return err
		}
		return f.publishGroup(s)
	case issued:
		name := fmt.Sprintf("%08d-%s.crt", e.Serial, e.Name)
		return f.publishBlocks(filepath.Join(issuedDir, name), keyfile.Block{Type: keyfile.Certificate, Bytes: e.Object})
	case revoked:
		name := fmt.Sprintf("%08d-%v.rev", e.Number, e.Member)
		if err := f.publishBlocks(filepath.Join(revokedDir, name), keyfile.Block{Type: keyfile.Revocation, Bytes: e.Object}); err != nil {
			return err
		}
		return f.publishGroup(s)
	case left:
		return f.publishGroup(s)
	case proved:
		return f.publishBlocks(evidenceFile(*e.Evidence), keyfile.Block{Type: keyfile.Evidence, Bytes: e.Object})
	}
	return nil
}

// publishGroup makes the group file, of what is published.
func (f folder) publishGroup(s *state) error {
	p := s.publication()
	blocks := blocksOf(keyfile.CACertificate, p.Authorities...)
	if p.Configuration != nil {
		blocks = append(blocks, blocksOf(keyfile.GroupConfiguration, p.Configuration)...)
	}
	blocks = append(blocks, blocksOf(keyfile.Revocation, p.Revocations...)...)
	return f.publishBlocks(GroupFile, append(blocks, blocksOf(keyfile.Leave, p.Leaves...)...)...)
}

// evidenceFile is where evidence is found.
func evidenceFile(id ident.Hash) string {
	return filepath.Join(evidenceDir, id.String()+".evidence")
}

func blocksOf(kind string, objects ...[]byte) []keyfile.Block {
	var blocks []keyfile.Block
	for _, raw := range objects {
		blocks = append(blocks, keyfile.Block{Type: kind, Bytes: raw})
	}
	return blocks
}

func (f folder) publishBlocks(file string, blocks ...keyfile.Block) error {
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil {
		return err
	}
	return f.publish(file, text)
}
