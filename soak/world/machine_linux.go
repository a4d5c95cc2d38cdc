package world

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// stopPatience is how long a daemon may take for each way of being told to
	// stop.
	stopPatience = 5 * time.Second
	// maxSweeps bounds the search for processes that were started during the
	// search before.
	maxSweeps = 50
	// stopPause is between two looks whether a process has stopped, which takes until its
	// threads get a processor; maxStopLooks bounds them for one that cannot be stopped,
	// as it waits for a device: ten seconds, or more on a busy machine.
	stopPause    = time.Millisecond
	maxStopLooks = 10_000
)

// Machine is one member's machine: a network namespace, a folder, and the
// processes in them.
type Machine struct {
	Name    string
	Dir     string
	Address string // IP address

	place *place
	port  *port

	mu     sync.Mutex
	off    bool
	frozen bool
	daemon *daemon
	died   []string
}

// daemon is one life of the member's daemon.
type daemon struct {
	cmd    *exec.Cmd
	exited chan struct{}
	asked  bool // to end, or killed
}

// LogFile is the file, in a machine's folder, for what its daemon says.
const LogFile = "log"

// ErrOff means that the machine has no power.
var ErrOff = errors.New("the machine is off")

// command makes a command with nothing of this process's settings for wander.
func command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WANDER_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return cmd
}

// StartDaemon starts the member's daemon unless it runs. Its output is appended
// to LogFile.
func (m *Machine) StartDaemon(program string, args ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.off:
		return ErrOff
	case m.daemon != nil:
		return nil
	}
	log, err := os.OpenFile(filepath.Join(m.Dir, LogFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := m.place.start(cmd); err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	d := &daemon{cmd: cmd, exited: make(chan struct{})}
	m.daemon = d
	go m.reap(d)
	return nil
}

func (m *Machine) reap(d *daemon) {
	err := d.cmd.Wait()
	m.mu.Lock()
	if !d.asked {
		m.died = append(m.died, fmt.Sprintf("%s: %v", m.Name, err))
	}
	if m.daemon == d {
		m.daemon = nil
	}
	m.mu.Unlock()
	close(d.exited)
}

// Died says of each daemon that ended by itself how it did.
func (m *Machine) Died() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.died)
}

// Up reports whether a daemon runs, if only a paused one.
func (m *Machine) Up() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.daemon != nil
}

// ending is the running daemon, which is to end and not to count as having died.
func (m *Machine) ending() *daemon {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.daemon != nil {
		m.daemon.asked = true
	}
	return m.daemon
}

// Kill ends the daemon alone, as a crash does.
func (m *Machine) Kill() {
	if d := m.ending(); d != nil {
		_ = d.cmd.Process.Kill()
		<-d.exited
	}
}

// Stop tells the daemon to end: in order, then at once, then by force.
func (m *Machine) Stop() {
	d := m.ending()
	if d == nil {
		return
	}
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGTERM, os.Kill} {
		_ = d.cmd.Process.Signal(s)
		select {
		case <-d.exited:
			return
		case <-time.After(stopPatience):
		}
	}
	<-d.exited
}

// Signal sends the daemon a signal, if it runs.
func (m *Machine) Signal(s os.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.daemon != nil {
		_ = m.daemon.cmd.Process.Signal(s)
	}
}

// Run runs a program to its end and returns its exit code, 128 and more after a
// signal. started is told its process id.
func (m *Machine) Run(output io.Writer, started func(pid int), program string, args ...string) (int, error) {
	cmd := command(program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	m.mu.Lock()
	if m.off || m.frozen {
		m.mu.Unlock()
		return 0, ErrOff
	}
	err := m.place.start(cmd)
	m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	started(cmd.Process.Pid)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

// ballast is the file that fills a small disk.
const ballast = "ballast"

// MountState gives the machine's state a file system of its own, in memory.
func (m *Machine) MountState(bytes int) error {
	dir := m.stateDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	options := fmt.Sprintf("size=%d,mode=0700", bytes)
	return os.NewSyscallError("mount tmpfs", unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options))
}

func (m *Machine) stateDir() string { return filepath.Join(m.Dir, "state") }

// Fill fills the file system of MountState. The daemon may end from it.
func (m *Machine) Fill() error {
	m.ending()
	file, err := os.Create(filepath.Join(m.stateDir(), ballast))
	if err != nil {
		return err
	}
	defer file.Close()
	for size := 1 << 20; size > 0; size /= 2 { // to the last byte
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, unix.ENOSPC) {
			return err
		}
	}
	return nil
}

// Empty undoes Fill. A daemon that still runs may be about to end from it: stop
// it, and start another one.
func (m *Machine) Empty() error {
	return os.Remove(filepath.Join(m.stateDir(), ballast))
}

// processes are those of the machine, whoever started them.
func (m *Machine) processes() (list []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if id, err := os.Readlink(filepath.Join("/proc", e.Name(), "ns/net")); err == nil && id == m.place.id {
			list = append(list, pid)
		}
	}
	return list
}

// stopAll stops every process of the machine, also those that are started
// meanwhile, and waits until they have stopped.
func (m *Machine) stopAll() []int {
	stopped := make(map[int]bool)
	for range maxSweeps {
		more := false
		for _, pid := range m.processes() {
			if !stopped[pid] {
				stopped[pid], more = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if !more {
			break
		}
		for pid := range stopped {
			awaitStop(pid)
		}
	}
	return m.processes()
}

// awaitStop waits until a process that was told to stop has done so: until then it may
// answer, or start others.
func awaitStop(pid int) {
	for range maxStopLooks {
		if !runs(pid) {
			return
		}
		time.Sleep(stopPause)
	}
}

// runs reports whether a thread of a process neither is stopped nor has ended.
func runs(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/stat", pid))
	return slices.ContainsFunc(tasks, func(name string) bool {
		text, _ := os.ReadFile(name)
		_, fields, _ := strings.Cut(string(text), ") ") // behind the program's name
		return fields != "" && !strings.Contains("TtZX", fields[:1])
	})
}

// Freeze stops all that runs on the machine, as a suspended virtual machine
// does, but for the clocks, which go on.
func (m *Machine) Freeze() {
	m.mu.Lock()
	m.frozen = true
	m.mu.Unlock()
	m.stopAll()
}

// Thaw lets all go on that Freeze has stopped.
func (m *Machine) Thaw() {
	for _, pid := range m.processes() {
		_ = unix.Kill(pid, unix.SIGCONT)
	}
	m.mu.Lock()
	m.frozen = false
	m.mu.Unlock()
}

// PowerOff ends all that runs on the machine. Everything is stopped before
// anything is killed, so that nothing acts on the end of something else.
func (m *Machine) PowerOff() {
	m.mu.Lock()
	m.off, m.frozen = true, false
	m.port.off.Store(true)
	d := m.daemon
	if d != nil {
		d.asked = true
	}
	m.mu.Unlock()
	for _, pid := range m.stopAll() {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if d != nil {
		<-d.exited
	}
}

// PowerOn lets programs be started again. The daemon is started by the caller.
func (m *Machine) PowerOn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = false
	m.port.off.Store(false)
}
