package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/pflag"
)

func addSocketFlag(f *pflag.FlagSet, socket *string) {
	f.StringVar(socket, "socket", "", "use this socket of the daemon (default $WANDER_SOCKET, or from the daemon's settings)")
}

// socketVariable names the daemon's socket for every command that asks a daemon.
// The daemon itself does not read it.
const socketVariable = "WANDER_SOCKET"

// socketPath is the daemon's socket: the flag, socketVariable, or what the daemon
// finds in environment, file and defaults. A file that only the daemon may read is
// not asked.
func socketPath(env *environment, flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if path := env.Getenv(socketVariable); path != "" {
		return path, nil
	}
	s, err := socketSettings(env)
	return s.socket(), err
}

// socketSettings are the daemon's settings, as far as this user may read them.
func socketSettings(env *environment) (settings, error) {
	s, err := loadSettings(env, "")
	if errors.Is(err, fs.ErrPermission) {
		s = defaultSettings()
		err = s.override(env.Getenv)
	}
	return s, err
}
