package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/pflag"
)

func addSocketFlag(f *pflag.FlagSet, socket *string) {
	f.StringVar(socket, "socket", "", "the daemon's socket (default as the daemon's settings say)")
}

// socketPath is the daemon's socket: the flag, or what the daemon finds in
// environment, file and defaults. A file that only the daemon may read is not
// asked.
func socketPath(env *environment, flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	s, err := loadSettings(env, "")
	if errors.Is(err, fs.ErrPermission) {
		s = defaultSettings()
		err = s.override(env.Getenv)
	}
	return s.socket(), err
}
