package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/update"
)

// writePause is how often what a member can sign anew as often as it likes is
// journalled at most: its endpoint record, its leave, what it states about one
// other. A newer one that is not journalled is asked for again after a restart.
const writePause = 10 * time.Minute

// maxJournalled bounds the matters of which it is known when they were journalled
// last: 6 MB. When there are more, all may be journalled again.
const maxJournalled = 1 << 16

// records writes into the journal what this member learns of others, so that after a
// restart it finds them without anybody's help. None of it is synced.
type records struct {
	*core
	written pacer
}

// known journals a signed object.
func (r *records) known(what journal.Knowledge, raw []byte) {
	r.persist(&journal.Known{What: what, Object: raw}, false)
}

// knownNowAndThen journals an object that its signer can sign anew as often as it likes,
// unless that was done for the matter a short time ago.
func (r *records) knownNowAndThen(key update.Key, what journal.Knowledge, raw []byte) {
	if r.written.may(r.now.Boot, key) {
		r.known(what, raw)
	}
}

// located notes a new endpoint record, and journals it now and then.
func (r *records) located(id ident.Member, raw []byte) {
	r.changed = true
	if r.written.may(r.now.Boot, update.Key{Kind: update.KindJoin, Subject: id}) || id == r.self {
		r.known(journal.KnownEndpoint, raw)
	}
}
