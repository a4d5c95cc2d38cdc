package spec

import (
	"os"
	"syscall"
)

// maxResident is how many bytes of a process that has ended were resident at most.
func maxResident(p *os.ProcessState) (bytes int64, known bool) {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return usage.Maxrss << 10, true
}
