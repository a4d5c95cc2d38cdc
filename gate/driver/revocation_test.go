package driver_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// out waits until the gate lets a member in no more.
func (s *station) out(t *testing.T, p gatetest.Party) {
	t.Helper()
	await.Until(t, "the member is out", func() bool {
		c, err := s.tryAs(p, func(*client.Config) {})
		if err == nil {
			require.NoError(t, c.Close())
		}
		return err != nil // the gate closes the connection before its HELLO
	})
}

// The revocations that come with a configuration without a place for this gate count: whoever is revoked goes by an older one.
func TestSync_ConfigurationUnfit_RevocationsCount(t *testing.T) {
	w := newWorld(t, 2, nil)
	without := w.Newer(func(x *group.Settings) { x.Resources[0].Gate = group.Gate{} })
	raw := w.Revoke(w.Members[0].ID())
	s := open(w, func(c *driver.Config) {
		c.Sync = func(context.Context, *group.Group, uint64) (driver.News, error) {
			return driver.News{Group: without, Revocations: [][]byte{raw}}, nil
		}
	})
	s.out(t, w.Members[0])
	await.Until(t, "the alarm", func() bool {
		st, err := s.Status(context.Background())
		return err == nil && st.Alarms[core.AlarmConfiguration] == 1
	})
}

// A revocation that does not count here, as one by a retired key, hides none behind it.
func TestSync_RevocationMissing_LaterOnesCome(t *testing.T) {
	w := newWorld(t, 2, nil)
	w.Revoke(w.Members[1].ID()) // the first one, which does not come
	second, third := w.Revoke(w.Members[1].ID()), w.Revoke(w.Members[0].ID())
	s := open(w, func(c *driver.Config) {
		c.Sync = func(_ context.Context, _ *group.Group, above uint64) (driver.News, error) {
			if above < 2 {
				return driver.News{Revocations: [][]byte{second}, More: true}, nil
			}
			return driver.News{Revocations: [][]byte{third}}, nil
		}
	})
	s.out(t, w.Members[0])
}

// A CA that says that there are more revocations, and does not give them, has not been heard.
func TestSync_MoreNeverComes_NotFresh(t *testing.T) {
	w := newWorld(t, 1, func(r *group.Resource) { r.Gate.RevocationMaxAge = time.Hour })
	s := open(w, func(c *driver.Config) {
		c.Sync = func(context.Context, *group.Group, uint64) (driver.News, error) { return driver.News{More: true}, nil }
	})
	await.Until(t, "the CA's answer has not counted", func() bool { return strings.Contains(s.log.String(), "the CA has more revocations than it gives") })
	refused := w.SignIn(s.dial(0), w.Mint(0), lasts)
	assert.Equal(t, core.Unsure, gatetest.Said[core.RefuseAnswer](t, refused).Code)
}

// The machine knows the revocations of the group file from the start, also those of members that only have signed.
func TestOpen_GroupFileRevokes_SignerRefused(t *testing.T) {
	w := newWorld(t, 2, nil)
	s := open(w, func(c *driver.Config) { c.Extra.Revocations = [][]byte{w.Revoke(w.Members[0].ID())} })
	second := w.SignIn(s.dial(1), w.Passed(w.Mint(0), 0, 1), lasts)
	assert.Equal(t, core.SignerRevoked, gatetest.Said[core.RefuseAnswer](t, second).Code)
}

// What is saved last is the newest, however long the file system takes for what came before. Meanwhile members come in.
func TestSave_Slow_NewestLast(t *testing.T) {
	w := newWorld(t, 2, nil)
	newer := w.Newer(func(*group.Settings) {})
	newest := w.Newer(func(x *group.Settings) { x.Version++ })
	entered, release := make(chan struct{}, 8), make(chan struct{})
	var mu sync.Mutex
	var saved []uint64
	s := open(w, func(c *driver.Config) {
		c.Save = func(g *group.Group, _ [][]byte) error {
			if g.Config().Version() == newer.Config().Version() {
				entered <- struct{}{}
				<-release
			}
			mu.Lock()
			defer mu.Unlock()
			saved = append(saved, g.Config().Version())
			return nil
		}
	})
	shows := func(who int, g *group.Group) {
		s.dialAs(w.Members[who], func(c *client.Config) { c.Group = func() *group.Group { return g } })
	}
	shows(0, newer)
	await.Next(t, "the first save", entered)
	shows(1, newest)
	await.Until(t, "the newest is known", func() bool {
		st, err := s.Status(context.Background())
		return err == nil && st.Configuration == newest.Config().Version()
	})
	session := w.SignIn(s.dialAs(w.Members[1], func(c *client.Config) { c.Group = func() *group.Group { return newest } }), w.Mint(1), lasts)
	gatetest.Opened(t, session) // beside the save
	close(release)
	await.Until(t, "both are saved", func() bool { mu.Lock(); defer mu.Unlock(); return len(saved) == 2 })
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []uint64{newer.Config().Version(), newest.Config().Version()}, saved)
}
