package inspect

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
)

// evidence shows a block of evidence. The accused's certificate is part of it, so
// that nothing but the group is needed.
func (i *Inspector) evidence(raw []byte) (Object, error) {
	e, err := evidence.Parse(raw)
	if err != nil {
		return Object{}, err
	}
	i.Learn(e.Certificate)
	fields, _ := structure(reflect.ValueOf(*e), i.open).(Fields)
	role := certificate.MemberRole
	if e.Kind.AgainstGate() {
		role = certificate.GateRole
	}
	o := Object{What: fmt.Sprintf("evidence against %v %v", role, e.Accused), Fields: fields}
	if i.group == nil {
		o.Verified = noGroup
		return o, nil
	}
	o.Verified = cmp.Or(i.only, verifiedYes)
	if p, err := e.Verify(i.group.ID()); err != nil {
		o.Verified = err.Error()
	} else {
		o.Fields = append(o.Fields, Field{"account", "it " + p.Account})
	}
	return o, nil
}
