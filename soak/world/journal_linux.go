package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// oldJournal is where CopyJournal puts its copy, and cloneDir where CloneFolder does.
const (
	oldJournal = "old-journal"
	cloneDir   = "clone"
)

func (m *Machine) journalDir() string { return filepath.Join(m.stateDir(), "journal") }

// CopyJournal keeps the journal as it is now, as a backup does.
func (m *Machine) CopyJournal() error {
	to := filepath.Join(m.Dir, oldJournal)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(m.journalDir()))
}

// PutBack puts the journal of CopyJournal in the place of the one that there is, file by
// file, so that the folder stays the same. The daemon must not run.
func (m *Machine) PutBack() error {
	from := filepath.Join(m.Dir, oldJournal)
	now, err := segments(m.journalDir())
	if err != nil {
		return err
	}
	old, err := segments(from)
	if err != nil {
		return err
	}
	for _, name := range now {
		if !slices.Contains(old, name) {
			if err := os.Remove(filepath.Join(m.journalDir(), name)); err != nil {
				return err
			}
		}
	}
	for _, name := range old {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(m.journalDir(), name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CutJournal cuts bytes off the end of the journal. The daemon must not run.
func (m *Machine) CutJournal(bytes int64) error {
	list, err := segments(m.journalDir())
	if err != nil || len(list) == 0 {
		return err
	}
	last := filepath.Join(m.journalDir(), list[len(list)-1])
	info, err := os.Stat(last)
	if err != nil {
		return err
	}
	return os.Truncate(last, max(0, info.Size()-bytes))
}

// segments are the journal's files in a folder, oldest first.
func segments(dir string) (list []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".journal") {
			list = append(list, e.Name())
		}
	}
	return list, err
}

// StartClone copies the member's folder and starts a second daemon in it, on the same
// machine, with settings made by change. What it returns ends that daemon.
func (m *Machine) StartClone(program string, change func(settings string) string) (end func(), err error) {
	dir := filepath.Join(m.Dir, cloneDir)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(dir, "state", "journal"), os.DirFS(m.journalDir())); err != nil {
		return nil, err
	}
	for _, name := range []string{"member.crt", "member.key", "group.crt", "wander.toml"} {
		data, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			return nil, err
		}
		if name == "wander.toml" {
			data = []byte(change(string(data)))
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(filepath.Join(dir, LogFile))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := command(program, "node", "--config", filepath.Join(dir, "wander.toml"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := m.place.start(cmd); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}
