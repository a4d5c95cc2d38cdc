//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

// checkOwner refuses that root works in the folder of another user's authority. That user could not read a file that root has written there: the enrolment
// service, which runs as the folder's owner, would stop at the next change.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || os.Geteuid() != 0 {
		return nil // what opens the folder says what is wrong with it
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is || stat.Uid == 0 {
		return nil
	}
	name := strconv.FormatUint(uint64(stat.Uid), 10)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	return cli.ConfigError(fmt.Errorf("%s is the folder of user %s, who could not read what root writes there", dir, name),
		"run it as that user: runuser -u "+name+" -- wander ca …")
}
