package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/member"
)

// machineIDFile names the machine on systems with systemd or D-Bus.
const machineIDFile = "/etc/machine-id"

// placeOf names this machine and the journal's folder on it. A copy of a
// journal, on another machine or in another folder, is in another place, and
// is not continued: that would be one custody memory twice (handoff rules §1).
// Moving the folder within its file system keeps the place.
func placeOf(dir string) string {
	place := "no machine id"
	if id, err := os.ReadFile(machineIDFile); err == nil {
		place = strings.TrimSpace(string(id))
	}
	return place + " " + folderID(dir)
}

// refuseLinks returns ErrLink when the journal's folder or something in it is a
// symbolic link. Behind a link there may be the journal of another member, or
// nothing while a disk is not mounted, and then the member would forget what it has
// promised; a lock behind one would let two members into one folder, and is
// overwritten. The state directory itself may be one: the journal in it is this
// member's, wherever that is.
func refuseLinks(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return fmt.Errorf("%w: %s", ErrLink, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type() == fs.ModeSymlink {
			return fmt.Errorf("%w: %s", ErrLink, filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

// pruneEvery is how often old journal segments are looked for; their
// retention is counted in days.
const pruneEvery = 24 * time.Hour

// prune removes old journal segments of a member that seldom begins new ones.
func (n *Node) prune(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := n.store.Prune(); err != nil {
				n.log.Warn("cannot remove old journal segments", "error", err)
			}
		}
	}
}

// journalStatus measures the journal on disk.
func (n *Node) journalStatus(s member.Status) api.JournalStatus {
	st := api.JournalStatus{Fsyncs: n.syncs.Load(), Recalling: s.Recalling, WentBack: s.Rollbacks}
	entries, err := os.ReadDir(filepath.Join(n.cfg.StateDir, "journal"))
	if err != nil {
		return st
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			st.Segments++
			st.Bytes += info.Size()
		}
	}
	return st
}
