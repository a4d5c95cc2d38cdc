package node

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/wandertoken/wander/node/api"
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

// journalStatus measures the journal on disk.
func (n *Node) journalStatus() api.JournalStatus {
	st := api.JournalStatus{Fsyncs: n.syncs.Load()}
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
