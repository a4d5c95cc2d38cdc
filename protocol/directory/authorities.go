package directory

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// authorities are the CA keys that have signed certificates that are kept. A
// group has had eight at most, so that a byte is enough to name one.
type authorities struct {
	ids     [][envelope.KeyIDSize]byte
	retired []bool
}

// signed notes which key has signed a certificate, and reports whether that one has
// been retired from the group.
func (as *authorities) signed(c certificate.Certificate, g Group) (place uint8, retired bool) {
	at := slices.Index(as.ids, c.Authority())
	if at < 0 {
		at = len(as.ids)
		as.ids = append(as.ids, c.Authority())
		as.retired = append(as.retired, g.Key(c.Authority()) == nil)
	}
	return uint8(at), as.retired[at]
}

// renew notes which keys are in force now, and reports whether that has changed for one.
func (as *authorities) renew(g Group) (changed bool) {
	for i, id := range as.ids {
		retired := g.Key(id) == nil
		changed = changed || retired != as.retired[i]
		as.retired[i] = retired
	}
	return changed
}

// SetGroup puts other CA keys into force. A member whose certificate was signed
// by a retired key is not eligible (ErrRetired), and is on no page, until it
// shows a certificate of a key in force. Its own key stays known, so that what
// it signed before can be verified. When a key is retired, SetGroup costs a
// look at every member.
func (d *Directory) SetGroup(g Group) {
	d.group, d.keys.cas = g, g
	as := &d.authorities
	if !as.renew(g) {
		return
	}
	var list []*facts
	for f := range d.order.from(ident.Member{}) {
		if f.retired != as.retired[f.authority] {
			list = append(list, f)
		}
	}
	for _, f := range list {
		f.retired = as.retired[f.authority]
		d.changed(f)
	}
}

// Recall takes in a certificate that this member verified before and has kept
// in its journal. A CA key that has been retired meanwhile may have signed it;
// history has such keys. The certificate then only serves to verify what its
// member has signed, and no peer's word is taken for a retired key. There is
// room for it even if SetLimit permits fewer members now. Errors are those of
// certificate.Parse.
func (d *Directory) Recall(raw []byte, history certificate.Authorities) (news bool, err error) {
	c, err := certificate.Parse(d.group.ID(), raw, history)
	if err != nil {
		return false, fmt.Errorf("recalled: %w", err)
	}
	return d.keep(c), nil
}
