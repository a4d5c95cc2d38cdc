package service

import (
	"errors"
	"slices"
	"sync"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/protocol/certificate"
)

// view is what the authority has published at one moment.
type view struct {
	ca.Publication
	authority *ca.Authority
}

// published is what is published now, by whatever process. Errors:
// ErrNoConfiguration, and those of ca.Authority.Publication.
func (s *Server) published() (view, error) {
	a := s.current()
	p, err := a.Publication()
	if err != nil {
		return view{}, s.failed(a, err)
	}
	if p.ConfigVersion == 0 {
		return view{}, ErrNoConfiguration
	}
	return view{Publication: p, authority: a}, nil
}

// inForce reports whether a certificate is by a CA key in force, so that others
// accept it.
func (v view) inForce(c certificate.Certificate) bool {
	return slices.Contains(v.authority.Config().Settings().Authorities, c.Authority())
}

func (s *Server) current() *ca.Authority {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.authority
}

// failed opens the authority again if an error has made it unusable, and
// returns the error.
func (s *Server) failed(a *ca.Authority, err error) error {
	if !errors.Is(err, ca.ErrBroken) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Now()
	if s.authority != a || now.Sub(s.opened) < reopenPause {
		return err
	}
	s.opened = now
	again, openErr := s.cfg.Open()
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	s.authority = again
	return err
}

// memo remembers the last things it was given, of two generations. It is safe
// for concurrent use.
type memo struct {
	most int

	mu       sync.Mutex
	new, old map[[32]byte]bool
}

func newMemo(most int) *memo { return &memo{most: most, new: make(map[[32]byte]bool)} }

func (m *memo) has(x [32]byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.new[x] || m.old[x]
}

func (m *memo) add(x [32]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.new) >= m.most/2 {
		m.new, m.old = make(map[[32]byte]bool), m.new
	}
	m.new[x] = true
}
