package node

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// folderID is the folder's inode and time of birth: a copy has another inode,
// unless the old folder was removed before and its number given out anew. Where
// the file system keeps no birth time, the inode has to do.
func folderID(dir string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return dir
	}
	if st.Mask&unix.STATX_BTIME == 0 {
		return fmt.Sprint(st.Ino)
	}
	return fmt.Sprintf("%d born %d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}
