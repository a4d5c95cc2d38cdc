package handoff

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// certificates are those of the members whose signatures custody here depends on:
// what the directory has of them, and what the journal has already.
type certificates struct {
	world   Environment
	written map[ident.Member]string // encoded, as they are in the journal
}

// of returns the certificates of the signers, as far as they are known.
func (c *certificates) of(signers []ident.Member) [][]byte {
	list := make([][]byte, 0, len(signers))
	for _, s := range signers {
		if raw := c.world.Certificate(s); raw != "" {
			list = append(list, []byte(raw))
		}
	}
	return list
}

// persist journals the certificates that a title needs, so that its transfer can
// be sent, with all that verifies it, after any restart.
func (c *certificates) persist(out *output, signers ...ident.Member) {
	for _, s := range signers {
		raw := c.world.Certificate(s)
		if raw == "" || c.written[s] == raw {
			continue
		}
		c.written[s] = raw
		out.persist(&journal.Known{What: journal.KnownCertificate, Object: []byte(raw)}, false)
	}
}

// replayed notes that the journal which was replayed has the signers' certificates.
func (c *certificates) replayed(signers []ident.Member) {
	for _, s := range signers {
		c.written[s] = c.world.Certificate(s)
	}
}

// checkpoint returns the signers' certificates for a checkpoint. From then on the
// journal has these and no others.
func (c *certificates) checkpoint(signers map[ident.Member]bool) (list []journal.Record) {
	clear(c.written)
	for _, id := range slices.SortedFunc(maps.Keys(signers), ident.Member.Compare) {
		raw := c.world.Certificate(id)
		c.written[id] = raw
		if raw != "" {
			list = append(list, &journal.Known{What: journal.KnownCertificate, Object: []byte(raw)})
		}
	}
	return list
}
