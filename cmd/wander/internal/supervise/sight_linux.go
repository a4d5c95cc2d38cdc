package supervise

import "golang.org/x/sys/unix"

// running reports whether the command runs. It is exact: a command that has ended
// and was not reaped does not count, and one that was is no child any more.
func (p *process) running() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo == 0
}
