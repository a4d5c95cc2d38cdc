package driver

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strings"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// Config says what a gate needs. Dir, Resource, Group, Certificate, Key, Conn and a target must be given.
type Config struct {
	Dir      string // state folder: the journal. It is held against other processes
	Resource string
	Target   Target            // the one without a name
	Targets  map[string]Target // those with one; there is one at least in all

	Group       *group.Group
	Extra       group.Extra             // revocations that the group file has
	Certificate certificate.Certificate // the gate's own
	Key         *signature.PrivateKey   // of Certificate

	// Conn is the UDP socket, which the gate owns once Open has succeeded.
	Conn     net.PacketConn
	ResetKey [32]byte

	// Floor is the last number of a session that the resource has seen, for a gate without a journal. Nil: there must be a journal.
	Floor *uint64

	// OpenHook and CloseHook may be nil: see the package comment.
	OpenHook, CloseHook Hook

	// Await is called when the state folder is held and before anything runs: it waits until no hook of an earlier process runs any more. Nil: none
	// can.
	Await func(context.Context) error

	// Sync asks the CA for what is new above a version of the revocation list. Nil: nobody is asked.
	Sync func(ctx context.Context, g *group.Group, revocations uint64) (News, error)

	// Save is called with the group and all revocations when they have changed. Nil: they are not kept.
	Save func(g *group.Group, revocations [][]byte) error

	// FS is where the journal is. Nil: the file system of the operating system.
	FS store.FS

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nowhere
}

// News is what the CA has published.
type News struct {
	Group       *group.Group
	Revocations [][]byte // ascending
	More        bool
}

// Target is where the resource listens.
type Target struct{ Network, Address string }

// ParseTarget reads "unix:PATH" or "HOST:PORT". Error: ErrConfig.
func ParseTarget(text string) (Target, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if path == "" {
			return Target{}, fmt.Errorf("%w: target %q has no path", ErrConfig, text)
		}
		return Target{"unix", path}, nil
	}
	if host, port, err := net.SplitHostPort(text); err != nil || host == "" || port == "" {
		return Target{}, fmt.Errorf("%w: target %q must be unix:PATH or HOST:PORT", ErrConfig, text)
	}
	return Target{"tcp", text}, nil
}

// targets are all of them by their names; that without one is "".
func (c *Config) targets() map[string]Target {
	all := maps.Clone(c.Targets)
	if all == nil {
		all = make(map[string]Target)
	}
	if c.Target != (Target{}) {
		all[""] = c.Target
	}
	return all
}

func (t Target) String() string {
	if t.Network == "unix" {
		return "unix:" + t.Address
	}
	return t.Address
}

// Call is what a hook is told.
type Call struct {
	Slot     int
	Session  uint64 // WANDER_GATE_FENCE; 0: whatever there may be
	Member   ident.Member
	Token    ident.Token
	Deadline time.Time // of the session; zero for the close hook
	Timeout  time.Duration
	Says     func(line string) // notes what the hook has written last, for people
}

// Hook runs a command and returns when that and everything that it has started has ended. It kills them when the timeout is over, and at
// once when ctx ends.
type Hook func(ctx context.Context, c Call) core.Result

func (c *Config) fill() error {
	switch {
	case c.Dir == "":
		return fmt.Errorf("%w: no state folder", ErrConfig)
	case c.Group == nil, c.Key == nil, c.Certificate.Key() == nil:
		return fmt.Errorf("%w: group, certificate and key are needed", ErrConfig)
	case !c.Certificate.Key().Equal(c.Key.Public()):
		return fmt.Errorf("%w: the certificate is for another key", ErrConfig)
	case c.Conn == nil:
		return fmt.Errorf("%w: no socket", ErrConfig)
	case c.Target == Target{} && len(c.Targets) == 0:
		return fmt.Errorf("%w: no target", ErrConfig)
	case len(c.Targets) > wire.MaxTargets:
		return fmt.Errorf("%w: %d targets with a name, permitted are %d", ErrConfig, len(c.Targets), wire.MaxTargets)
	}
	for name := range c.Targets {
		if err := group.CheckName(name); err != nil {
			return fmt.Errorf("%w: target: %w", ErrConfig, err)
		}
	}
	if c.Await == nil {
		c.Await = func(context.Context) error { return nil }
	}
	if c.Save == nil {
		c.Save = func(*group.Group, [][]byte) error { return nil }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// reading is what the clocks show: the wall clock without the monotonic one, which does not go back when that is set back.
func (c *Config) reading() clock.Reading {
	return clock.Reading{Boot: boottime.Now(), Wall: c.Now().Round(0)}
}
