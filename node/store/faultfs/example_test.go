package faultfs_test

import (
	"fmt"

	"github.com/wandertoken/wander/node/store/faultfs"
)

// Code that writes a file durably is crashed at each of its operations. The file is whole or not there.
func ExampleFS_CrashAt() {
	const name, temporary, text = "dir/file", "dir/file.tmp", "content"
	write := func(disk *faultfs.FS) {
		f, err := disk.Create(temporary)
		if err != nil {
			return
		}
		if _, err = f.WriteAt([]byte(text), 0); err == nil {
			err = f.Sync()
		}
		if err == nil {
			err = disk.Rename(temporary, name)
		}
		if err == nil {
			_ = disk.SyncDir("dir")
		}
	}
	for n := 1; ; n++ {
		disk := faultfs.New(1)
		disk.CrashAt(n)
		write(disk)
		if !disk.Crashed() {
			fmt.Println(disk.Ops(), "operations")
			return
		}
		if left, err := disk.PowerLoss().ReadFile(name, -1); err == nil && string(left) != text {
			fmt.Printf("crash at operation %d leaves %q\n", n, left)
		}
	}
	// Output: 5 operations
}
