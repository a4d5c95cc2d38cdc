package service

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// seenFile is where a service keeps, in the authority's folder, which members it
// heard of lately: their certificates and endpoint records by turns. It may be
// deleted; newcomers meet nobody then until members come again.
const seenFile = "seen.crt"

// seen is the members that were heard of. It is safe for concurrent use.
type seen struct {
	file string

	mu      sync.Mutex
	members map[ident.Member]*observation
	saved   []byte
}

type observation struct {
	certificate certificate.Certificate
	endpoint    certificate.SignedEndpoint
	at          time.Time
}

// loadSeen reads the file. Who is in it counts as heard of just now: of a service
// that starts again that is more often true than not.
func loadSeen(a *ca.Authority, now time.Time) (*seen, error) {
	s := &seen{file: filepath.Join(a.Dir(), seenFile), members: make(map[ident.Member]*observation)}
	info, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if info.Size() > maxSeenFile {
		return s, keyfile.ErrTooLarge
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return s, err
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return s, err
	}
	for pair := range slices.Chunk(blocks, 2) {
		if len(pair) != 2 || pair[0].Type != keyfile.Certificate || pair[1].Type != keyfile.Endpoint {
			return s, keyfile.ErrFormat
		}
		cert, err := a.Parse(pair[0].Bytes)
		if err == nil && cert.ValidAt(now) == nil {
			_ = s.note(a.Group(), cert, pair[1].Bytes, now)
		}
	}
	return s, nil
}

// note takes in what a member says of itself. Only those that others can dial
// are kept. Errors: certificate.ErrRole for a gate, which no member dials, and those of
// certificate.ParseEndpoint.
func (s *seen) note(g ident.Group, cert certificate.Certificate, raw []byte, now time.Time) error {
	if cert.Role() != certificate.MemberRole {
		return certificate.ErrRole
	}
	endpoint, err := certificate.ParseEndpoint(g, raw, cert.Key())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := cert.Member()
	old := s.members[m]
	switch {
	case old != nil && endpoint.Body().Sequence < old.endpoint.Body().Sequence:
		old.at = now // it is the member itself, with an older record
		return nil
	case endpoint.Body().Mode != certificate.Reachable:
		delete(s.members, m)
		return nil
	case old == nil && len(s.members) >= maxSeen:
		s.forgetOldest()
	}
	s.members[m] = &observation{certificate: cert, endpoint: endpoint, at: now}
	return nil
}

// forgetOldest needs s.mu.
func (s *seen) forgetOldest() {
	var oldest ident.Member
	for m, one := range s.members {
		if first := s.members[oldest]; first == nil || one.at.Before(first.at) {
			oldest = m
		}
	}
	delete(s.members, oldest)
}

// forget drops a member that is no more.
func (s *seen) forget(m ident.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, m)
}

// renewed takes in a member's new certificate.
func (s *seen) renewed(c certificate.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.members[c.Member()]; one != nil {
		one.certificate = c
	}
}

// draw is some random members but one, those heard of lately first. Those whose
// certificate has ended, or who are members no more, are forgotten. One whose
// certificate a retired CA key has signed is kept: it renews soon.
func (s *seen) draw(not ident.Member, now time.Time, v view) []enrolment.Peer {
	var peers []enrolment.Peer
	for _, one := range s.inRandomOrder(not, now) {
		if len(peers) == enrolment.MaxPeers {
			break
		}
		if one.certificate.ValidAt(now) != nil || v.authority.Eligible(one.certificate.Member()) != nil {
			s.forget(one.certificate.Member())
			continue
		}
		if !v.inForce(one.certificate) {
			continue
		}
		peers = append(peers, enrolment.Peer{Certificate: one.certificate.Raw(), Endpoint: one.endpoint.Raw()})
	}
	return peers
}

func (s *seen) inRandomOrder(not ident.Member, now time.Time) []observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []observation
	for m, one := range s.members {
		if m != not {
			list = append(list, *one)
		}
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b observation) int {
		return age(a, now) - age(b, now)
	})
	return list
}

// age is 0 for who was heard of lately, otherwise 1.
func age(s observation, now time.Time) int {
	if now.Sub(s.at) <= fresh {
		return 0
	}
	return 1
}

// save writes the file if it has changed, in one step.
func (s *seen) save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var blocks []keyfile.Block
	for _, m := range sorted(s.members) {
		one := s.members[m]
		blocks = append(blocks,
			keyfile.Block{Type: keyfile.Certificate, Bytes: one.certificate.Raw()},
			keyfile.Block{Type: keyfile.Endpoint, Bytes: one.endpoint.Raw()})
	}
	text, err := keyfile.EncodeBlocks(blocks...)
	if err != nil || bytes.Equal(text, s.saved) {
		return err
	}
	temporary := s.file + ".tmp"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temporary, s.file); err != nil {
		return err
	}
	s.saved = text
	return nil
}

func sorted(members map[ident.Member]*observation) []ident.Member {
	list := make([]ident.Member, 0, len(members))
	for m := range members {
		list = append(list, m)
	}
	slices.SortFunc(list, ident.Member.Compare)
	return list
}
