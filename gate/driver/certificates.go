package driver

import (
	"crypto/sha256"
	"sync"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// certificates are those of signers of permits that have verified by the group's CA keys as they are now. The same few members sign again and again.
// A certificate that has expired or whose member is revoked is for others to judge. It is safe for concurrent use.
type certificates struct {
	mu    sync.Mutex
	group *group.Group // by whose keys; another group has others
	of    map[[sha256.Size]byte]certificate.Certificate
}

// parse is certificate.Parse.
func (c *certificates) parse(g *group.Group, raw []byte) (certificate.Certificate, error) {
	key := sha256.Sum256(raw)
	c.mu.Lock()
	found, ok := c.of[key]
	ok = ok && c.group == g
	c.mu.Unlock()
	if ok {
		return found, nil
	}
	one, err := certificate.Parse(g.ID(), raw, g)
	if err != nil {
		return one, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.group != g || len(c.of) >= maxCertificates {
		c.group, c.of = g, make(map[[sha256.Size]byte]certificate.Certificate)
	}
	c.of[key] = one
	return one, nil
}
