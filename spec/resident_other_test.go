//go:build !linux

package spec

import "os"

// maxResident is known on Linux only, where it is counted in KiB.
func maxResident(*os.ProcessState) (bytes int64, known bool) { return 0, false }
