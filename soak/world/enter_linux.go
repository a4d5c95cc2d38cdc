package world

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrUnsupported means that this machine does not let a run have its own
// namespaces.
var ErrUnsupported = errors.New("no namespaces")

// firstArg, as the first argument, makes this program the first process of a
// process namespace.
const firstArg = "__first"

// Enter runs this program again with other arguments, in a process namespace of
// its own, and returns its exit code. Whoever is not root becomes so in a user
// namespace. When this process ends, by whatever cause, all processes within
// have ended.
func Enter(args []string) (int, error) {
	runtime.LockOSThread() // the order to die comes when this thread ends
	cmd := exec.Command("/proc/self/exe", append([]string{firstArg}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true, // a terminal's Ctrl-C reaches this process only, which passes it on
	}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	interrupts := make(chan os.Signal, 4)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(interrupts)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	go func() {
		for range interrupts {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// RunFirst returns at once unless Enter has started this process; then it does
// what the first process of a namespace has to, and ends. Call it first of all
// in main.
func RunFirst() {
	if len(os.Args) < 2 || os.Args[1] != firstArg {
		return
	}
	code, err := first(os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = UnsupportedCode
	}
	os.Exit(code)
}

// UnsupportedCode is what Enter returns if the first process within cannot start
// the second one; it has said why.
const UnsupportedCode = 69

// first starts the program proper, and reaps what nobody else does.
func first(args []string) (int, error) {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnsupported, os.NewSyscallError("mount", err))
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnsupported, os.NewSyscallError("mount proc", err))
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM)
	process, err := os.StartProcess("/proc/self/exe", append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = process.Signal(s)
		}
	}()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && pid != process.Pid:
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		default:
			return status.ExitStatus(), nil
		}
	}
}
