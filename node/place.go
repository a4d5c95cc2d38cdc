package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
