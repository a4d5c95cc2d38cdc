package boottime

import (
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/protocol/clock"
)

// now asks the kernel without announcing the system call to the Go runtime. One that is
// announced while the process is idle wakes the runtime's monitor, a thread of which this
// call needs nothing: it never blocks.
func now() clock.Instant {
	var ts unix.Timespec
	if _, _, err := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0); err != 0 {
		panic("boottime: " + err.Error()) // in every kernel since 2.6.39
	}
	return clock.Instant(ts.Nano())
}

var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// A time namespace moves CLOCK_BOOTTIME for its processes without being
	// another boot, so its name belongs to the clock's.
	ns, _ := os.Readlink("/proc/self/ns/time")
	return strings.TrimSpace(string(b)) + ns
})

// timerFD is a timerfd on CLOCK_BOOTTIME. It is non-blocking, so the read waits
// in the runtime's poller and costs no thread.
type timerFD struct{ file *os.File }

// newSystemTimer returns nil when there is no descriptor left; the caller
// polls then.
func newSystemTimer(at clock.Instant) systemTimer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(at), 1))} // 0 would disarm it
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		unix.Close(fd)
		return nil
	}
	return &timerFD{os.NewFile(uintptr(fd), "timerfd")}
}

func (t *timerFD) wait() bool {
	var expirations [8]byte
	n, err := t.file.Read(expirations[:])
	return err == nil && n == len(expirations)
}

func (t *timerFD) close() { t.file.Close() }
