package world

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// oldJournal is where CopyJournal puts its copy, cloneDir is the folder of a clone, and
// keptJournal has the journal of a daemon while a twin has its folder.
const (
	oldJournal  = "old-journal"
	cloneDir    = "clone"
	keptJournal = "kept-journal"
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
	dir, err := m.makeClone(change)
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(filepath.Join(dir, "state", "journal"), os.DirFS(m.journalDir())); err != nil {
		return nil, err
	}
	return startIn(dir, m.place, program)
}

// StartTwin goes on with a copy of the member's journal on another machine, that seems to
// be the same one to a daemon: a block-for-block clone. What it returns ends that, and
// must be called before the member's daemon is stopped.
//
// A daemon knows a place by its machine's id and its journal's folder. So the clone gets
// that folder, and the daemon that runs keeps the files, which are moved: it has
// opened them.
func (m *Machine) StartTwin(on *Machine, program string, change func(settings string) string) (end func() error, err error) {
	dir, err := m.makeClone(change)
	if err != nil {
		return nil, err
	}
	kept, seen := filepath.Join(m.Dir, keptJournal), filepath.Join(dir, "state", "journal")
	for _, name := range []string{kept, seen} {
		if err := os.MkdirAll(name, 0o700); err != nil {
			return nil, err
		}
	}
	if err := moveFiles(m.journalDir(), kept); err != nil {
		return nil, err
	}
	if err := os.CopyFS(m.journalDir(), os.DirFS(kept)); err != nil {
		return nil, err
	}
	if err := unix.Mount(m.journalDir(), seen, "", unix.MS_BIND, ""); err != nil {
		return nil, os.NewSyscallError("mount a journal", err)
	}
	stop, err := startIn(dir, on.place, program)
	if err != nil {
		return nil, err
	}
	return func() error {
		stop()
		err := os.NewSyscallError("unmount a journal", unix.Unmount(seen, unix.MNT_DETACH))
		old, listed := os.ReadDir(m.journalDir())
		for _, e := range old {
			err = errors.Join(err, os.Remove(filepath.Join(m.journalDir(), e.Name())))
		}
		return errors.Join(err, listed, moveFiles(kept, m.journalDir()))
	}, nil
}

// moveFiles moves all files of a folder to another one.
func moveFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		err = errors.Join(err, os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
	}
	return err
}

// makeClone makes a copy of the member's folder without its journal.
func (m *Machine) makeClone(change func(settings string) string) (dir string, err error) {
	dir = filepath.Join(m.Dir, cloneDir)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for _, name := range []string{"member.crt", "member.key", "group.crt", "wander.toml"} {
		data, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			return "", err
		}
		if name == "wander.toml" {
			data = []byte(change(string(data)))
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// startIn starts a daemon with the settings of a folder in a place, and returns what
// ends it.
func startIn(dir string, p *place, program string) (end func(), err error) {
	log, err := os.Create(filepath.Join(dir, LogFile))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := command(program, "node", "--config", filepath.Join(dir, "wander.toml"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := p.start(cmd); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}
