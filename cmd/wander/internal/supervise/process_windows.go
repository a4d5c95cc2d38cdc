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
	leader identity
	os     *os.Process
	job    windows.Handle
	events chan event
}

// launch starts the command, in a job object that ends with this process.
func launch(c Command, g *Guard, known func(*process)) (*process, error) {
	job, err := newJob()
	if err != nil {
		return nil, err
	}
	child, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{
		Env:   c.Env,
		Files: []*os.File{g.streams.Stdin, g.streams.Stdout, g.streams.Stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	p := &process{leader: identity{PID: child.Pid}, os: child, job: job, events: make(chan event, 1)}
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

// join puts the command into the job. A process that it starts before that is not in it;
// Go offers no way to start a process suspended.
func (p *process) join() error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.leader.PID))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(p.job, h))
}

func (p *process) watch() {
	e := event{Ended: true, Exit: -1, Gone: true}
	if state, err := p.os.Wait(); err == nil {
		e.Exit = state.ExitCode()
	}
	p.kill() // what it left behind; without a grace, no event reaches a group whose leader is gone
	p.events <- e
}

// terminate is CTRL_BREAK, the event that a process group of its own still
// hears.
func (p *process) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.leader.PID))
}

func (p *process) kill() { _ = windows.TerminateJobObject(p.job, killedStatus) }

func (p *process) forward(os.Signal) { p.terminate() }

// empty is not asked: the command's end is that of everything.
func (p *process) empty() bool { return false }

// leaderRuns reports whether the command has not ended.
func (p *process) leaderRuns() (runs bool) {
	_ = p.os.WithHandle(func(handle uintptr) { // of one that was waited for there is none
		s, err := windows.WaitForSingleObject(windows.Handle(handle), 0)
		runs = err == nil && s == uint32(windows.WAIT_TIMEOUT)
	})
	return runs
}

func (p *process) deserted() {}

func (p *process) suspended(syscall.Signal) {}

func (p *process) close() { windows.CloseHandle(p.job) }
