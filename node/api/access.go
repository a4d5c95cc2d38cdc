package api

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Modes of the socket. A user that may connect can hold up the group's tokens.
const (
	ownerMode fs.FileMode = 0o600
	groupMode fs.FileMode = 0o660
	anyMode   fs.FileMode = 0o666
)

// Errors of the access to the socket.
var (
	// ErrMode says that the socket's mode is none that is permitted, or does not go with its group.
	ErrMode = errors.New("socket mode not permitted")
	// ErrGroup says that the system has no such group.
	ErrGroup = errors.New("no such group on this system")
	// ErrNotInGroup says that the daemon's user may not give the socket to the group.
	ErrNotInGroup = errors.New("the daemon's user is not a member of the group")
	// ErrFolder says that others cannot get to the socket, as a folder above it is closed to them.
	ErrFolder = errors.New("other users cannot enter the folder")
	// ErrFolderChanged says that others could put something into the place of the socket.
	ErrFolderChanged = errors.New("other users can change the folder")
	// ErrNoAsker says that this system does not tell the daemon which user connects.
	ErrNoAsker = errors.New("not possible on this system: it does not tell which user connects")
)

// Access is who may open the socket. The zero value is its owner.
type Access struct {
	mode fs.FileMode // 0: ownerMode
	gid  int         // with groupMode
	name string      // of the group, as it was given
}

// ParseAccess reads a Unix group, by name or number, and an octal mode; each may be empty. Errors: ErrGroup, ErrMode, ErrNoAsker.
func ParseAccess(group, mode string) (Access, error) {
	a := Access{name: group}
	switch mode {
	case "":
		if group != "" {
			a.mode = groupMode
		}
	case "0600":
		a.mode = ownerMode
	case "0660":
		a.mode = groupMode
	case "0666":
		a.mode = anyMode
	default:
		return a, fmt.Errorf("%w: %q", ErrMode, mode)
	}
	switch {
	case group != "" && a.mode != groupMode:
		return a, fmt.Errorf("%w: %s is not for a group", ErrMode, mode)
	case group == "" && a.mode == groupMode:
		return a, fmt.Errorf("%w: %s is for a group, and none is named", ErrMode, mode)
	case !a.shared():
		return a, nil
	case !tellsAsker:
		return a, ErrNoAsker
	case a.mode == anyMode:
		return a, nil
	}
	var err error
	a.gid, err = groupID(group)
	return a, err
}

// groupID is the number of a group. A number need not have a name on this machine.
func groupID(group string) (int, error) {
	if gid, err := strconv.ParseUint(group, 10, 31); err == nil {
		return int(gid), nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return 0, fmt.Errorf("%w: %q", ErrGroup, group)
	}
	return strconv.Atoi(g.Gid)
}

// shared reports whether others than the owner may connect.
func (a Access) shared() bool { return a.mode&^ownerMode != 0 }

// open lets the users of the access connect to a socket that only the owner can open yet.
func (a Access) open(socket string) error {
	if !a.shared() {
		return chmod(socket, ownerMode)
	}
	socket, err := a.checkFolders(socket)
	if err != nil {
		return err
	}
	if a.mode == groupMode {
		err = os.Lchown(socket, -1, a.gid)
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w: %s", ErrNotInGroup, a.name)
		}
		if err != nil {
			return err
		}
	}
	return chmod(socket, a.mode)
}

// chmod changes the mode of a socket, and of nothing that a link in its place leads to. Between the two steps nobody puts one there
// who cannot change its folder.
func chmod(socket string, mode fs.FileMode) error {
	info, err := os.Lstat(socket)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%w: %s", ErrNotSocket, socket)
	}
	return os.Chmod(socket, mode)
}

// checkFolders finds a folder that those cannot enter for whom the socket is, who would see no more than that nobody answers, or that
// others can change, who could put anything into the socket's place. It returns the socket's path without links.
func (a Access) checkFolders(socket string) (real string, err error) {
	path, err := filepath.Abs(socket)
	if err == nil {
		path, err = filepath.EvalSymlinks(filepath.Dir(path))
	}
	real = filepath.Join(path, filepath.Base(socket))
	for ; err == nil; path = filepath.Dir(path) {
		var info fs.FileInfo
		if info, err = os.Stat(path); err != nil {
			break
		}
		uid, gid, known := ownersOf(info)
		mode, enter := info.Mode().Perm(), fs.FileMode(0o001)
		if a.mode == groupMode && known && gid == a.gid {
			enter = 0o010 // the system asks no further
		}
		sticky := info.Mode()&fs.ModeSticky != 0 // others cannot replace what is not theirs
		switch {
		case mode&enter == 0:
			return "", fmt.Errorf("%w: %s has mode %04o", ErrFolder, path, mode)
		case mode&0o022 != 0 && !sticky:
			return "", fmt.Errorf("%w: %s has mode %04o", ErrFolderChanged, path, mode)
		case known && uid != 0 && uid != os.Geteuid():
			return "", fmt.Errorf("%w: %s belongs to user %d", ErrFolderChanged, path, uid)
		}
		if path == filepath.Dir(path) {
			break
		}
	}
	return real, err
}
