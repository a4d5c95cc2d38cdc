//go:build !linux

package api

import (
	"io/fs"
	"net"
)

// tellsAsker says that the daemon does not learn which process connects. So its socket is for its owner only.
const tellsAsker = false

func peerOf(*net.UnixConn) *Asker { return nil }

func ownersOf(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }
