//go:build unix && !linux

package node

import (
	"os"
	"strconv"
	"syscall"
)

// folderID is the folder's inode: a copy has another one.
func folderID(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return dir
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.FormatUint(uint64(st.Ino), 10)
	}
	return dir
}
