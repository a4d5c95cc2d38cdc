package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/ident"
)

// Why a service does not start.
var (
	// ErrNoConfiguration says that the group has no configuration yet, so that a
	// newcomer could not start.
	ErrNoConfiguration = errors.New("the group has no configuration yet")
	// ErrConfig says that the configuration of the service lacks something.
	ErrConfig = errors.New("service configuration")
)

// Config is what a service is made of. Open and Listener must be given.
type Config struct {
	// Open opens the authority: at the start, and again after an error that
	// made it unusable. It should ask nobody for a passphrase the second time.
	Open func() (*ca.Authority, error)
	// Listener is where to take connections. The service closes it.
	Listener net.Listener
	// Log is where to log; nil: nowhere.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Server is the enrolment service of an authority. Its methods are safe for
// concurrent use.
type Server struct {
	cfg     Config
	group   ident.Group
	notices *notices // what others can cause
	deeds   *notices // what was done, apart: a flood of refusals does not hide it
	seen    *seen
	http    *http.Server
	socket  net.Listener

	mu        sync.Mutex
	authority *ca.Authority
	opened    time.Time

	certifying sync.Mutex
	followed   atomic.Int64 // the size of the log up to which the TLS key follows it

	shown    atomic.Pointer[shown]
	enrols   *single
	strange  *buckets[netip.Prefix]
	members  *buckets[ident.Member]
	noted    *memo
	stop     sync.Once
	stopping chan struct{}
	stopped  sync.WaitGroup
}

// shown is what the service proves itself with.
type shown struct {
	certificate *tls.Certificate
	by          [envelope.KeyIDSize]byte // the CA key that signed it
}

// New opens the authority and makes the TLS key, for which the CA key is
// needed: a passphrase is asked for now, and not later. Errors:
// ErrNoConfiguration, ErrConfig, and those of ca.Open and ca.Authority.Signer.
func New(cfg Config) (*Server, error) {
	if cfg.Open == nil || cfg.Listener == nil {
		return nil, fmt.Errorf("%w: authority or listener missing", ErrConfig)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{
		cfg: cfg, notices: newNotices(cfg.Log, cfg.Now), deeds: newNotices(cfg.Log, cfg.Now),
		noted: newMemo(maxNoted), stopping: make(chan struct{}),
		enrols:  &single{rate: rate{enrolsPerSecond, enrolBurst}},
		strange: newBuckets[netip.Prefix](rate{enrolsPerAddress, addressEnrolBurst}),
		members: newBuckets[ident.Member](rate{memberPerSecond, memberBurst}),
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	s.serveHTTP()
	return s, nil
}

func (s *Server) open() error {
	a, err := s.cfg.Open()
	if err != nil {
		return err
	}
	s.authority, s.group = a, a.Group()
	if _, err := s.published(); err != nil {
		return err
	}
	if s.seen, err = loadSeen(a, s.cfg.Now()); err != nil {
		s.cfg.Log.Warn("earlier members are unknown: the CA introduces new members to none until members connect", "file", seenFile, "error", err)
	}
	return s.certify()
}

// Group is the authority's group.
func (s *Server) Group() ident.Group { return s.group }

// Signer is the id of the CA key that certifies the service.
func (s *Server) Signer() [envelope.KeyIDSize]byte { return s.shown.Load().by }

// serveHTTP sets up the server; Serve runs it.
func (s *Server) serveHTTP() {
	refused := func(from net.Addr, why string) {
		s.notices.note(slog.LevelWarn, "connection refused", "remote", from, "reason", why)
	}
	s.socket = tls.NewListener(newListener(s.cfg.Listener, s.cfg.Now, refused), &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: true,
		// What a client shows is looked at where it matters; enrolment needs none.
		ClientAuth: tls.RequestClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.follow()
			return s.shown.Load().certificate, nil
		},
	})
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(s.notices, "", 0),
	}
	s.http.SetKeepAlivesEnabled(false)
}

// Serve takes connections until Shutdown, and then returns nil.
func (s *Server) Serve() error {
	s.beginUpkeep()
	err := s.http.Serve(s.socket)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown takes no more connections, lets the requests in progress end until ctx
// does, and writes down what it knows. Serve need not be running.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	err = errors.Join(err, ignoreClosed(s.socket.Close()))
	s.endUpkeep()
	return errors.Join(err, s.seen.save())
}

// beginUpkeep starts the upkeep, unless Shutdown has come first.
func (s *Server) beginUpkeep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.stopping:
	default:
		s.stopped.Go(s.keep)
	}
}

// endUpkeep ends the upkeep, also one that Serve has not begun yet.
func (s *Server) endUpkeep() {
	s.mu.Lock()
	s.stop.Do(func() { close(s.stopping) })
	s.mu.Unlock()
	s.stopped.Wait()
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// keep does what has to be done now and then.
func (s *Server) keep() {
	tick := time.NewTicker(upkeepPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.upkeep()
		case <-s.stopping:
			return
		}
	}
}

func (s *Server) upkeep() {
	if err := s.certify(); err != nil {
		s.notices.note(slog.LevelError, "TLS certificate not renewed", "error", err)
	}
	if err := s.seen.save(); err != nil {
		s.notices.note(slog.LevelError, "members not saved", "file", seenFile, "error", err)
	}
}

// follow certifies anew when the authority's log has grown: another process may
// have rotated the CA key, and who comes now knows of it. It costs one look at
// the file's size otherwise. What fails is tried again by upkeep, not by every
// stranger.
func (s *Server) follow() {
	info, err := os.Stat(filepath.Join(s.current().Dir(), ca.LogFile))
	if err != nil || info.Size() == s.followed.Load() {
		return
	}
	if err := s.certify(); err != nil {
		s.notices.note(slog.LevelError, "TLS certificate not renewed", "error", err)
	}
	s.followed.Store(info.Size())
}

// certify makes a new TLS key and has the CA certify it, if half of the life of
// the last one is over or another CA key signs now.
func (s *Server) certify() error {
	s.certifying.Lock()
	defer s.certifying.Unlock()
	v, err := s.published()
	if err != nil {
		return err
	}
	by, signer, err := v.authority.Signer()
	if err != nil {
		return s.failed(v.authority, err)
	}
	now := s.cfg.Now()
	if last := s.shown.Load(); last != nil && last.by == by.ID() {
		if left := last.certificate.Leaf.NotAfter.Sub(now); left > enrolment.ServiceLifetime/2 && left <= enrolment.ServiceLifetime {
			return nil
		}
	}
	made, err := enrolment.ServiceCertificate(s.group, v.Authorities, by, signer, now)
	if err != nil {
		return err
	}
	s.shown.Store(&shown{certificate: made, by: by.ID()})
	return nil
}
