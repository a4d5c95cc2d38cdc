// Package instants shows what a process that is killed leaves behind, at every
// instant: it stops the process at each of its system calls and looks at a folder.
// What is there then is what a kill -9 at that instant leaves. It is for tests.
package instants

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrNotPermitted says that this process may not trace others, as in some
// containers.
var ErrNotPermitted = errors.New("processes cannot be traced here")

// File is what a name in a folder stands for.
type File struct {
	Mode  fs.FileMode
	Inode uint64 // the same for two names of one file
	Data  string // of a regular file
}

// State is what a folder has, by the path within it.
type State map[string]File

// Of runs a command to its end, and returns each state of dir that differs from the
// one before, the first one included, and the command's exit code. The command's
// input and outputs must be files or nil.
func Of(cmd *exec.Cmd, dir string) (states []State, exit int, err error) {
	onChildlessThread(func() { states, exit, err = of(cmd, dir) })
	return states, exit, err
}

func of(cmd *exec.Cmd, dir string) ([]State, int, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) {
			err = fmt.Errorf("%w: %w", ErrNotPermitted, err)
		}
		return nil, 0, err
	}
	t := tracer{dir: dir, leader: cmd.Process.Pid, known: map[int]bool{cmd.Process.Pid: true}}
	err := t.run()
	_ = cmd.Process.Release() // it has been waited for
	return t.states, t.exit, err
}

// onChildlessThread calls f on a thread of its own, as one thread traces a process. The
// thread has started no process before: the tracer reaps what its thread has started, and
// whoever waits for such a process would not find it.
func onChildlessThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if hasChildren() {
			onChildlessThread(f) // on another thread, as this one is locked
			return
		}
		f()
	}()
	<-done
}

// hasChildren reports whether this thread has started a process that nobody has reaped.
func hasChildren() bool {
	const options = unix.WEXITED | unix.WNOHANG | unix.WNOWAIT | unix.WALL | unix.WNOTHREAD
	return unix.Waitid(unix.P_ALL, 0, nil, options, nil) == nil
}

// tracer follows one process with all its threads.
type tracer struct {
	dir    string
	leader int
	known  map[int]bool // threads that have been seen
	states []State
	exit   int
}

func (t *tracer) run() error {
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.leader, &status, unix.WALL, nil); err != nil {
		return err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(t.leader, options); err != nil {
		return err
	}
	if err := t.look(); err != nil {
		return err
	}
	if err := unix.PtraceSyscall(t.leader, 0); err != nil {
		return err
	}
	for {
		// Only what this thread has started or traces: the others' processes are theirs.
		thread, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case !status.Stopped() && thread == t.leader:
			t.exit = status.ExitStatus()
			return t.look()
		case !status.Stopped():
			continue
		}
		if err := t.stopped(thread, status.StopSignal()); err != nil {
			return err
		}
	}
}

// syscallStop is the signal of a stop at a system call.
const syscallStop = unix.SIGTRAP | 0x80

// stopped looks at the folder, if a thread has stopped at a system call, and lets it
// go on.
func (t *tracer) stopped(thread int, signal syscall.Signal) error {
	isNew := !t.known[thread]
	t.known[thread] = true
	switch {
	case signal == syscallStop:
		if err := t.look(); err != nil {
			return err
		}
		signal = 0
	case signal == unix.SIGTRAP, signal == unix.SIGSTOP && isNew: // made by tracing
		signal = 0
	}
	err := unix.PtraceSyscall(thread, int(signal))
	if errors.Is(err, unix.ESRCH) { // it has ended with its process
		return nil
	}
	return err
}

// look notes the state of the folder, if it is another one.
func (t *tracer) look() error {
	s, err := stateOf(t.dir)
	if err != nil {
		return err
	}
	if n := len(t.states); n == 0 || !maps.Equal(t.states[n-1], s) {
		t.states = append(t.states, s)
	}
	return nil
}

// stateOf returns the state of a folder.
func stateOf(dir string) (State, error) {
	s := make(State)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed by another thread meanwhile
		}
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f := File{Mode: info.Mode(), Inode: info.Sys().(*syscall.Stat_t).Ino}
		if f.Mode.IsRegular() {
			data, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil // not an empty file: another name of it may still be there
			}
			if err != nil {
				return err
			}
			f.Data = string(data)
		}
		rel, err := filepath.Rel(dir, name)
		s[rel] = f
		return err
	})
	return s, err
}

// Write makes a folder with the state. Only directories and regular files are made.
func (s State) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	written := make(map[uint64]string) // by inode
	for rel, f := range s {
		name := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		switch {
		case f.Mode.IsDir():
			if err := os.MkdirAll(name, 0o700); err != nil {
				return err
			}
		case f.Mode.IsRegular() && written[f.Inode] != "":
			if err := os.Link(written[f.Inode], name); err != nil {
				return err
			}
		case f.Mode.IsRegular():
			written[f.Inode] = name
			if err := os.WriteFile(name, []byte(f.Data), f.Mode.Perm()); err != nil {
				return err
			}
		}
	}
	return nil
}

// String lists the files with their sizes, for the message of a failing test.
func (s State) String() string {
	var b bytes.Buffer
	for name, f := range s {
		fmt.Fprintf(&b, "%s %v %d bytes\n", name, f.Mode, len(f.Data))
	}
	return b.String()
}
