package api

import (
	"io/fs"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// tellsAsker says that the system tells which process connects.
const tellsAsker = true

// peerOf is the process that has connected.
func peerOf(c *net.UnixConn) *Asker {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil || err != nil {
		return nil
	}
	return &Asker{User: cred.Uid, Group: cred.Gid, Process: cred.Pid}
}

// ownersOf are user and group of a file.
func ownersOf(info fs.FileInfo) (uid, gid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}
