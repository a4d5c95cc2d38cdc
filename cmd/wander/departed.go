package main

import (
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/journal"
)

// deadHint is for a member that has left or was revoked.
const deadHint = "to rejoin, use a new invite in another folder, or move the old files away (docs/install.md, Change the group): this key is not valid any more"

// journalIn is the folder of the journal in a state_dir.
func journalIn(stateDir string) string { return filepath.Join(stateDir, "journal") }

// hasJournal reports whether a daemon has run with a state_dir.
func hasJournal(stateDir string) bool {
	if stateDir == "" {
		return true // not known: nothing is to be made twice
	}
	entries, err := os.ReadDir(journalIn(stateDir))
	return len(entries) > 0 || err != nil && !os.IsNotExist(err)
}

// departed is enrolment.ErrRevoked or enrolment.ErrLeft when the group file or the journal
// of a member says so, with a valid signature. A file that cannot be read says nothing.
func departed(id node.Identity, stateDir string) error {
	for _, raw := range id.Extra.Revocations {
		if revokes(id, raw) {
			return enrolment.ErrRevoked
		}
	}
	for _, raw := range id.Extra.Leaves {
		if leaves(id, raw) {
			return enrolment.ErrLeft
		}
	}
	if stateDir == "" {
		return nil
	}
	for f, err := range store.Frames(nil, journalIn(stateDir)) {
		if err != nil {
			return nil
		}
		if len(f.Body) == 0 {
			continue
		}
		if err := departure(id, f.Body); err != nil {
			return err
		}
	}
	return nil
}

// departure is what one record of a journal says about its member.
func departure(id node.Identity, body []byte) error {
	_, record, err := journal.Decode(body)
	if err != nil {
		return nil
	}
	known, ok := record.(*journal.Known)
	switch {
	case !ok:
	case known.What == journal.KnownRevocation && revokes(id, known.Object):
		return enrolment.ErrRevoked
	case known.What == journal.KnownLeave && leaves(id, known.Object):
		return enrolment.ErrLeft
	}
	return nil
}

func revokes(id node.Identity, raw []byte) bool {
	r, err := certificate.ParseRevocation(id.Group.ID(), raw, id.Group.History())
	return err == nil && r.Body().Member == id.Certificate.Member()
}

func leaves(id node.Identity, raw []byte) bool {
	m, err := certificate.LeaveSigner(id.Group.ID(), raw)
	if err != nil || m != id.Certificate.Member() {
		return false
	}
	_, err = certificate.ParseLeave(id.Group.ID(), raw, id.Certificate.Key())
	return err == nil
}

// deadError ends the program for a member that is none any more, nil if err is.
func deadError(err error) error {
	if err == nil {
		return nil
	}
	return &cli.Error{Code: cli.ExitGone, Err: err, Hint: deadHint}
}
