package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData is fdatasync: contents and size, without the file's times. That is
// all an append needs.
func syncData(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.EINTR
		for errors.Is(failed, unix.EINTR) { // interrupted before it began: nothing was lost
			failed = unix.Fdatasync(int(fd))
		}
	})
	if err == nil && failed != nil {
		err = os.NewSyscallError("fdatasync "+f.Name(), failed)
	}
	return err
}
