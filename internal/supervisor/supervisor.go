// Package supervisor tells the service manager that started this process how it is: systemd's notification protocol (sd_notify(3)).
//
//	s := supervisor.FromEnvironment()
//	s.Ready()
//	go s.Watch(ctx, alive) // while alive returns
//
// Without a service manager that asks, each method does nothing.
//
// FromEnvironment takes the variables out of the environment, so that hooks and commands that this process starts do not speak
// for it. That is why no library is used: those known read the environment at each message.
package supervisor

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Supervisor is the service manager, if there is one.
type Supervisor struct {
	socket   string        // empty: nobody asks
	watchdog time.Duration // within which it wants a sign of life; 0: it wants none
}

// The variables that the service manager sets.
const (
	socketVariable      = "NOTIFY_SOCKET"
	watchdogVariable    = "WATCHDOG_USEC"
	watchdogPIDVariable = "WATCHDOG_PID"
)

// maxWatchdog bounds the watchdog's interval: a longer one is taken for a mistake, and no watchdog.
const maxWatchdog = 24 * time.Hour

// FromEnvironment returns the service manager that the environment names, and removes it from there.
func FromEnvironment() Supervisor {
	s := parse(os.Getenv, os.Getpid())
	for _, name := range []string{socketVariable, watchdogVariable, watchdogPIDVariable} {
		_ = os.Unsetenv(name)
	}
	return s
}

func parse(getenv func(string) string, pid int) Supervisor {
	s := Supervisor{socket: getenv(socketVariable)}
	if abstract, is := strings.CutPrefix(s.socket, "@"); is {
		s.socket = "\x00" + abstract
	}
	if of := getenv(watchdogPIDVariable); of != "" && of != strconv.Itoa(pid) {
		return s
	}
	if us, err := strconv.ParseInt(getenv(watchdogVariable), 10, 64); err == nil && us > 0 && us <= maxWatchdog.Microseconds() {
		s.watchdog = time.Duration(us) * time.Microsecond
	}
	return s
}

// Ready says that the service does its work: what depends on it may start.
func (s Supervisor) Ready() { s.tell("READY=1") }

// Watch gives signs of life until ctx ends: one each time that alive has returned, at a third of the interval in which one is due.
// While alive hangs there is none, and the service manager kills the process.
func (s Supervisor) Watch(ctx context.Context, alive func()) {
	if s.socket == "" || s.watchdog == 0 {
		return
	}
	t := time.NewTicker(s.watchdog / 3) // two may be lost
	defer t.Stop()
	for {
		alive()
		s.tell("WATCHDOG=1")
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// tellWithin bounds a message: a service manager that hangs must not hold up the service.
const tellWithin = time.Second

// tell sends a message. One that is lost is not repeated: the service manager acts by its own timeouts.
func (s Supervisor) tell(message string) {
	if s.socket == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetWriteDeadline(time.Now().Add(tellWithin))
	_, _ = c.Write([]byte(message))
}
