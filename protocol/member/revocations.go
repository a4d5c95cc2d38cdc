package member

import (
	"cmp"
	"errors"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// revocations takes in the CA's revocation list, and tells others.
type revocations struct {
	*core
	faults  *faults
	records *records
	news    *dissemination
	owner   owner
}

// learn takes in revocations. A member that is newly revoked is handed
// the revocation and expelled, and every peer is told: a revocation waits for
// no token.
func (v *revocations) learn(from ident.Member, list [][]byte) error {
	var news [][]byte
	var faulty error
	for _, raw := range list {
		fresh, err := v.dir.LearnRevocation(raw)
		if err != nil {
			err = v.faults.unlearned(from, "revocation", err)
			faulty = cmp.Or(err, faulty)
			if err != nil && !errors.Is(err, certificate.ErrUnknownCA) {
				break
			}
		}
		if !fresh {
			continue
		}
		news = append(news, raw)
		v.records.known(journal.KnownRevocation, raw)
		if r, err := certificate.PeekRevocation(v.cfg.Group.ID(), raw); err == nil { // it has just been verified
			v.news.disseminate(update.Key{Kind: update.KindRevocation, Subject: r.Member}, update.Revocation(raw))
		}
	}
	if len(news) == 0 {
		return faulty
	}
	v.changed = true
	v.owner.expelRevoked()
	for _, id := range v.peers.list() {
		if id != from {
			v.sendUnknown(id, news)
		}
	}
	return faulty
}

// sendUnknown sends a peer those of some revocations that it has not shown to know.
func (v *revocations) sendUnknown(id ident.Member, news [][]byte) {
	var list [][]byte
	for _, raw := range news {
		r, err := certificate.PeekRevocation(v.cfg.Group.ID(), raw)
		if err == nil && r.Version > v.peers.of(id).revocations {
			list = append(list, raw)
		}
	}
	for _, chunk := range bundles(list) {
		v.send(id, &wire.Revocations{Revocations: chunk})
	}
}

// onMessage takes in a page of the revocation list. Only one that
// advances asks for the next: no peer can keep this up.
func (v *revocations) onMessage(from ident.Member, msg *wire.Revocations) {
	before := v.dir.RevocationVersion()
	_ = v.learn(from, msg.Revocations)
	if after := v.dir.RevocationVersion(); msg.More && after > before {
		v.send(from, &wire.Want{Topic: wire.WantRevocations, Version: after})
	}
}
