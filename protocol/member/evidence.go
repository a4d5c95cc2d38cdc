package member

import (
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// prosecutor makes proof that anybody can check of objects that convict their signer.
type prosecutor struct{ *core }

// recall makes complete again what the journal has as evidence: a crash
// may have come before the driver had it in a file.
func (p prosecutor) recall(past []journal.Stamped) {
	for _, s := range past {
		r, ok := s.Record.(*journal.Evidence)
		if !ok || r.Accused.IsZero() {
			continue
		}
		if a, b, ok := evidence.Recover(p.cfg.Group.ID(), r.What, r.Objects); ok {
			p.convict(r.Accused, a, b)
		}
	}
}

// convict makes proof of two objects that convict
// their signer. The journal has the objects already.
func (p prosecutor) convict(accused ident.Member, a, b evidence.Object) {
	g := p.cfg.Group
	var raw []byte
	e, err := evidence.New(g.ID(), g.Statements(), []byte(p.dir.RawCertificate(accused)), a, b)
	if err == nil {
		raw, err = e.Encode()
	}
	if err != nil {
		// Its certificate is forgotten, or by a CA key of which this member has no
		// statement any more. An auditor can still make evidence of the journal.
		p.emit(effect.Report{Kind: "evidence not complete", About: accused, Detail: err.Error()})
		return
	}
	p.emit(effect.Evidence{Kind: e.Kind.String(), Accused: e.Accused, ID: e.ID(), Encoded: raw})
}
