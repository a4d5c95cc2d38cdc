package supervise

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// killedStatus is the exit status of what a job object was made to end.
const killedStatus = 128 + 9

// process is a running command with its job object.
type process struct {
	pid    int
	os     *os.Process
	job    windows.Handle
	events chan event
}

// event is the command's end.
type event struct {
	ended  bool
	exit   int
	signal syscall.Signal
}

// launch starts the command, in a job object that ends with this process.
func launch(c Command, known func(*process)) (*process, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	child, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Env:   c.Env,
		Files: []*os.File{c.Stdin, c.Stdout, c.Stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	p := &process{pid: child.Pid, os: child, job: job, events: make(chan event, 1)}
	if err := p.join(); err != nil {
		_ = child.Kill()
		windows.CloseHandle(job)
		return nil, err
	}
	known(p)
	go p.watch()
	return p, nil
}

// newJob returns a job object whose processes end with the last handle, which
// only this process has.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, os.NewSyscallError("SetInformationJobObject", err)
	}
	return job, nil
}

// join puts the command into the job. What it starts before that is not in it;
// Go offers no way to start a process suspended.
func (p *process) join() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(p.job, h))
}

func (p *process) watch() {
	state, err := p.os.Wait()
	if err != nil {
		p.events <- event{ended: true, exit: -1}
		return
	}
	p.events <- event{ended: true, exit: state.ExitCode()}
}

// terminate is CTRL_BREAK, the event that a process group of its own still
// hears.
func (p *process) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
}

func (p *process) kill() { _ = windows.TerminateJobObject(p.job, killedStatus) }

func (p *process) forward(os.Signal) { p.terminate() }

// empty ends what the command left behind, without a grace: no event reaches a
// group whose leader is gone.
func (p *process) empty() bool {
	p.kill()
	return true
}

func (p *process) suspended(syscall.Signal) {}

func (p *process) close() { windows.CloseHandle(p.job) }
