package supervisor

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse_Environment_Read(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Supervisor
	}{
		{nil, Supervisor{}},
		{map[string]string{"NOTIFY_SOCKET": "/run/n"}, Supervisor{socket: "/run/n"}},
		{map[string]string{"NOTIFY_SOCKET": "@n"}, Supervisor{socket: "\x00n"}},
		{map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "3000000"}, Supervisor{"/n", 3 * time.Second}},
		{map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"}, Supervisor{"/n", 3 * time.Second}},
		{map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"}, Supervisor{socket: "/n"}},
		{map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "-1"}, Supervisor{socket: "/n"}},
		{map[string]string{"NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "99999999999999999999"}, Supervisor{socket: "/n"}},
	} {
		assert.Equal(t, c.want, parse(func(name string) string { return c.env[name] }, 7), "%v", c.env)
	}
}

func TestSupervisor_Life_Told(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer l.Close()
	hear := func() string {
		b := make([]byte, 100)
		n, err := l.Read(b)
		require.NoError(t, err)
		return string(b[:n])
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "3000")
	s := FromEnvironment()
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC"} {
		_, is := os.LookupEnv(name)
		assert.False(t, is, "%s is left to hooks", name)
	}
	s.Ready()
	assert.Equal(t, "READY=1", hear())
	ctx, cancel := context.WithCancel(context.Background())
	lives, ended := make(chan bool), make(chan bool)
	go func() { s.Watch(ctx, func() { <-lives }); close(ended) }()
	for range 3 {
		lives <- true
		assert.Equal(t, "WATCHDOG=1", hear())
	}
	cancel()
	close(lives)
	<-ended
	Supervisor{}.Ready() // nobody asks
	Supervisor{socket: socket + "-gone"}.Ready()
	Supervisor{}.Watch(ctx, func() { t.Error("nobody wants a sign of life") })
}
