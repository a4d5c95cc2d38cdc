package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
)

// Config is what a node is made of. Identity and StateDir must be given.
type Config struct {
	Identity
	// StateDir holds the journal, the local socket and the stateless-reset
	// key. Two nodes cannot share one.
	StateDir string
	// Listen is the UDP address to listen on and to dial from, "host:port".
	// Empty: the member only dials out.
	Listen string
	// Conn is open on the address Listen already, and closed by the node; nil: the
	// node opens it.
	Conn net.PacketConn
	// Advertise is where others can reach this member, "host:port", in order
	// of preference. Empty: the listening address, if it names a host.
	Advertise []string
	// Bootstrap are addresses of members to meet first, and again whenever
	// nobody else can be reached.
	Bootstrap []string
	// Authority is where the CA's service answers, "host:port". Empty: the
	// certificate is renewed by hand, and news of the CA come from other members.
	Authority []string
	// Sample is how many other members this one keeps in its directory, drawn at
	// random; directory.SampleSize says how many are enough. 0 keeps all.
	Sample int
	// Mode is store.Durable (default) or store.Volatile. A durable member keeps
	// custody over a crash, and pays a disk sync for each handoff. A volatile
	// one loses the tokens it holds.
	Mode store.Mode
	// Found makes the first token of each slot, once for a journal.
	Found bool
	// NewIncarnation begins a new custody memory: the journal was restored
	// from a backup, or cloned.
	NewIncarnation bool
	// Operation, if it has a Run, runs each time a token is granted for it.
	Operation Operation
	// Socket is the path of the local API's socket; default
	// StateDir/wander.sock, "-" for none.
	Socket string
	// Access is who may open the socket; the zero value: its owner.
	Access api.Access
	// Metrics is the TCP address of the Prometheus metrics, "host:port"; empty:
	// none are kept. Whoever can reach it can read them.
	Metrics string
	// Web is the TCP address of the page for people, "host:port", a loopback one; empty: only the socket has it.
	Web string
	// FleetLock is how updaters ask before they restart this machine.
	FleetLock FleetLock
	// Tuning of the handoff; zero means handoff.DefaultTuning.
	Tuning handoff.Tuning
	// NoPreOffer begins the search for the next holder only when the policy
	// releases the token: to measure what pre-offering gains.
	NoPreOffer bool
	// Hooks run when something happens to the member, beside it: package hooks.
	Hooks map[hooks.Kind]hooks.Run
	// Quiet, if it is given, is called when the member has become quiet, with true, and
	// when it has no more, with false, within a few seconds: so that the program can
	// use less of the machine meanwhile. It must not block.
	Quiet func(quiet bool)
	// Observer, if there is one, is told what the policies decide: to replay it
	// in the simulator. It is called while the node waits, and keeps nothing.
	Observer member.Observer
	// Now reads the wall clock: for the validity of certificates and the times in
	// tokens and statements. Nil means time.Now.
	Now func() time.Time
	// Log is where the node logs; nil: nowhere.
	Log *slog.Logger

	seams seams
}

// seams are where tests put something in the place of the world. Zero values
// mean the world.
type seams struct {
	journal store.Options // beyond what a user may set: the file system
	handler func(transport.Handler) transport.Handler
	// addresses are this machine's; addressNews says that the system tells of changes.
	addresses   func() ([]net.Addr, error)
	addressNews bool
}

func (s *seams) fill() {
	if s.handler == nil {
		s.handler = func(h transport.Handler) transport.Handler { return h }
	}
	if s.addresses == nil {
		s.addresses, s.addressNews = net.InterfaceAddrs, true
	}
}

// Identity is who a member is.
type Identity struct {
	Group       *group.Group
	Certificate certificate.Certificate
	Key         *signature.PrivateKey
	// Extra is what else the group file holds: other members' certificates
	// and endpoint records, and revocations.
	Extra group.Extra
	// CertificateFile and GroupFile are rewritten when the CA renews the
	// certificate, or publishes a newer configuration. Empty: they are not.
	CertificateFile, GroupFile string
}

// Operation is what a node does each time it gets a token: the protected
// operation of the papers, as a standing demand.
type Operation struct {
	Resource string
	// MaxHold bounds one run; zero: the resource's max_hold.
	MaxHold time.Duration
	// Run performs the operation under the grant and returns when it has
	// ended, at the grant's deadline at the latest. ctx ends when the grant is
	// lost. It returns how the grant was used; the
	// node fills in which one it was.
	Run func(ctx context.Context, g api.Grant) api.ReleaseRequest
}

func (c *Config) validate() error {
	c.seams.fill()
	if c.Now == nil {
		c.Now = time.Now
	}
	if role := c.Certificate.Role(); role != certificate.MemberRole {
		return fmt.Errorf("%w: %w: the certificate is a %v's", ErrIdentity, certificate.ErrRole, role)
	}
	switch {
	case c.Group == nil || c.Key == nil:
		return fmt.Errorf("%w: no identity", ErrConfig)
	case c.StateDir == "":
		return fmt.Errorf("%w: no state_dir", ErrConfig)
	case c.Listen == "" && len(c.Bootstrap) == 0:
		return fmt.Errorf("%w: a member that does not listen needs bootstrap peers", ErrConfig)
	case c.Sample < 0:
		return fmt.Errorf("%w: directory.sample is %d", ErrConfig, c.Sample)
	case len(c.Advertise) > certificate.MaxAddresses:
		return fmt.Errorf("%w: %d addresses to advertise, at most %d", ErrConfig, len(c.Advertise), certificate.MaxAddresses)
	}
	if err := errors.Join(checkMetrics(c.Metrics), checkWeb(c.Web), c.FleetLock.check()); err != nil {
		return err
	}
	if err := c.checkAddresses(); err != nil {
		return err
	}
	renews := len(c.Authority) > 0 && enrolment.ScheduleOf(c.Certificate, c.Group).InGrace(c.Now())
	if err := c.Certificate.ValidAt(c.Now()); err != nil && !renews {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if c.Socket == "" {
		c.Socket = filepath.Join(c.StateDir, api.SocketName)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}

// checkAddresses refuses addresses that cannot be ones.
func (c *Config) checkAddresses() error {
	for _, setting := range []struct {
		key       string
		addresses []string
	}{
		{"listen.advertise", c.Advertise}, {"bootstrap.peers", c.Bootstrap}, {"ca.address", c.Authority},
	} {
		for _, a := range setting.addresses {
			if err := certificate.CheckAddress(a); err != nil {
				return &SettingError{setting.key, err}
			}
		}
	}
	return nil
}

// checkOperation refuses an operation for a resource that the group configuration lacks.
// It is for a member that starts for the first time: one that has worked goes on as if it
// had not been restarted, since the resource may come back.
func (c *Config) checkOperation() error {
	if c.Operation.Run == nil {
		return nil
	}
	if _, ok := c.Group.Config().Resource(c.Operation.Resource); !ok {
		return fmt.Errorf("%w: the operation's resource %q is not in the group configuration", ErrConfig, c.Operation.Resource)
	}
	return nil
}
