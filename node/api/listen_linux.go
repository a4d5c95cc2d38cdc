package api

import "golang.org/x/sys/unix"

func restrictMode(fd uintptr) error { return unix.Fchmod(int(fd), uint32(ownerMode)) }
