package member

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// recallEvidence makes complete again what the journal has as evidence: a crash
// may have come before the driver had it in a file.
func (c *circulation) recallEvidence(past []journal.Stamped) {
	for _, p := range past {
		r, ok := p.Record.(*journal.Evidence)
		if !ok || r.Accused.IsZero() {
			continue
		}
		if a, b, ok := evidence.Recover(c.cfg.Group.ID(), r.What, r.Objects); ok {
			c.convicted(r.Accused, a, b)
		}
	}
}

// convicted makes proof that anybody can check of two objects that convict
// their signer. The journal has the objects already.
func (c *circulation) convicted(accused ident.Member, a, b evidence.Object) {
	g := c.cfg.Group
	var raw []byte
	e, err := evidence.New(g.ID(), g.Statements(), []byte(c.dir.RawCertificate(accused)), a, b)
	if err == nil {
		raw, err = e.Encode()
	}
	if err != nil {
		// Its certificate is forgotten, or by a CA key of which this member has no
		// statement any more. An auditor can still make evidence of the journal.
		c.emit(effect.Report{Kind: "evidence not complete", About: accused, Detail: err.Error()})
		return
	}
	c.emit(effect.Evidence{Kind: e.Kind.String(), Accused: e.Accused, ID: e.ID(), Encoded: raw})
}
