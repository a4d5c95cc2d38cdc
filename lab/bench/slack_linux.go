package main

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// withTimerSlack runs f, which starts a process whose timers may come so much later than
// they are due. That permits the kernel to wake it once for what would be several times;
// a process inherits it from the thread that starts it. 0 is the system's own.
func withTimerSlack(slack time.Duration, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0); err != nil {
		return err
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }()
	return f()
}
