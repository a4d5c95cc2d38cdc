// Package unignore is for tests of programs that are sent signals: what starts in the
// background of a script, or under nohup, ignores some, and so would its children.
package unignore

import (
	"os"
	"os/signal"
	"syscall"
)

// ForChildren lets the processes that this one starts mind the signals that it was
// started to ignore. It goes on to ignore them itself.
func ForChildren() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // what is caught is reset in a child
		}
	}
}
