//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

func isExecutable(info fs.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }

// isOurs reports whether only root and this user can change a file, or a link, or what a folder has under a name of theirs.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return false
	}
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0 // others cannot replace what is not theirs
	link := info.Mode()&fs.ModeSymlink != 0                  // its mode says nothing
	return info.Mode().Perm()&0o022 == 0 || sticky || link
}
