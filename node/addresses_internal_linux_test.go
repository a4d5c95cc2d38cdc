package node

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wandertoken/wander/protocol/clock"
	"golang.org/x/sys/unix"
)

// inNetwork runs f on a thread that has a network of its own, without addresses. up brings
// its loopback up, which gives it some.
func inNetwork(t *testing.T, f func(up func())) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		defer func() { done <- err }()
		if err == nil {
			f(func() {
				fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
				if !assert.NoError(t, err) {
					return
				}
				defer unix.Close(fd)
				lo, err := unix.NewIfreq("lo")
				assert.NoError(t, err)
				lo.SetUint16(unix.IFF_UP)
				assert.NoError(t, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo))
			})
		}
	}()
	if err := <-done; err != nil {
		t.Skipf("a network of its own: %v", err)
	}
}

func TestAddressNews_AddressComes_ToldOnce(t *testing.T) {
	inNetwork(t, func(up func()) {
		news := listenForAddresses()
		defer news.close()
		if !assert.True(t, news.open) {
			return
		}
		assert.True(t, news.none())
		up()
		assert.False(t, news.none())
		assert.True(t, news.none())
	})
}

func TestAddressNews_Closed_NothingKnown(t *testing.T) {
	news := listenForAddresses()
	news.close()
	news.close()
	assert.False(t, news.none())
}

// due reports at which of the looks, a second apart, addresses are listed.
func due(p *paths, from clock.Instant, looks int) (at []int) {
	for i := range looks {
		if p.due(from.Add(time.Duration(i) * time.Second)) {
			at = append(at, i)
			p.changed(nil)
		}
	}
	return at
}

func TestPaths_SystemTellsOfNoChange_ListedOnceAMinute(t *testing.T) {
	inNetwork(t, func(up func()) {
		p := &paths{news: listenForAddresses()}
		defer p.news.close()
		const began = clock.Instant(time.Hour)
		assert.Equal(t, []int{0, 60, 120}, due(p, began, 125))
		up()
		assert.Equal(t, []int{0}, due(p, began.Add(125*time.Second), 55))
	})
}

func TestPaths_SystemTellsNothing_ListedEachFiveSeconds(t *testing.T) {
	assert.Equal(t, []int{0, 5, 10}, due(&paths{}, clock.Instant(time.Hour), 12))
}

func TestPaths_ListFails_ListedAtNextLook(t *testing.T) {
	p := &paths{news: listenForAddresses()}
	defer p.news.close()
	require.True(t, p.due(clock.Instant(time.Hour)))
	assert.True(t, p.due(clock.Instant(time.Hour+pathsEvery)))
	p.changed([]net.Addr{})
}
