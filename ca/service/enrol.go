package service

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// enrol makes a newcomer a member.
func (s *Server) enrol(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	now := s.cfg.Now()
	if wait := s.strange.take(networkOfText(r.RemoteAddr), now); wait > 0 {
		return nil, busy(wait)
	}
	if wait := s.enrols.take(now); wait > 0 {
		return nil, busy(wait)
	}
	q, no := read[enrolment.EnrolRequest](w, r, enrolment.MaxEnrolRequest)
	if no != nil {
		return nil, no
	}
	request, err := certificate.ParseRequest(s.group, q.Request)
	if err != nil {
		return nil, refuse(enrolment.Refused, err)
	}
	a := s.current()
	cert, err := a.Redeem(q.ID, q.Secret, request.Body().Name, request.Key())
	if err != nil {
		return nil, s.notRedeemed(a, err)
	}
	// The view is taken afterwards: it has all that the certificate was issued
	// under.
	v, err := s.published()
	if err != nil {
		return nil, refuse(enrolment.Failed, err)
	}
	s.deeds.note(slog.LevelInfo, "enrolled", "name", cert.Name(), "member", cert.Member(), "role", cert.Role(), "serial", cert.Body().Serial,
		"invite", ca.InviteID(q.ID), "remote", r.RemoteAddr)
	return s.welcome(v, cert)
}

func networkOfText(address string) netip.Prefix {
	ap, _ := netip.ParseAddrPort(address)
	return networkOf(net.TCPAddrFromAddrPort(ap))
}

// notRedeemed tells what is wrong with the invite, which is nobody's business
// but the operator's, from what is wrong here.
func (s *Server) notRedeemed(a *ca.Authority, err error) *refusal {
	for _, of := range []error{
		ca.ErrRefused, ca.ErrOtherName, ca.ErrRevoked, ca.ErrLeft, ca.ErrOwnKey, ca.ErrNameInUse, ca.ErrExpired, ca.ErrRole,
	} {
		if errors.Is(err, of) {
			return refuse(enrolment.Refused, err)
		}
	}
	return refuse(enrolment.Failed, s.failed(a, err))
}

// welcome is the answer to a new member.
func (s *Server) welcome(v view, cert certificate.Certificate) ([]byte, *refusal) {
	peers := s.seen.draw(cert.Member(), s.cfg.Now(), v)
	others := uint64(len(peers))
	if others == 0 {
		var err error
		if others, err = s.others(v, cert.Member()); err != nil {
			return nil, refuse(enrolment.Failed, err)
		}
	}
	return write(enrolment.EnrolAnswer{Certificate: cert.Raw(), Publication: v.since(0, 0), Peers: peers, Others: others})
}

// others counts the other members that have a valid certificate.
func (s *Server) others(v view, not ident.Member) (uint64, error) {
	l, err := v.authority.List()
	if err != nil {
		return 0, s.failed(v.authority, err)
	}
	now, living := s.cfg.Now(), make(map[ident.Member]bool)
	for _, r := range l.Records {
		if r.Role == certificate.MemberRole && r.Member != not && r.Revoked == nil && r.Left == nil && now.Before(r.NotAfter) {
			living[r.Member] = true
		}
	}
	return uint64(len(living)), nil
}

// since is what is newer than what somebody has: versions of the configuration
// and of the revocation list.
func (v view) since(configuration, revocations uint64) enrolment.Publication {
	p := enrolment.Publication{Authorities: v.Authorities, Leaves: tail(v.Leaves, enrolment.MaxLeaves)}
	if configuration < v.ConfigVersion {
		p.Configuration = v.Configuration
	}
	// The versions of the revocations are consecutive and end with the newest.
	below := v.RevocationVersion - uint64(len(v.Revocations))
	if skip := max(revocations, below) - below; skip < uint64(len(v.Revocations)) {
		p.Revocations = v.Revocations[skip:]
	}
	if len(p.Revocations) > enrolment.MaxRevocations {
		p.Revocations, p.More = p.Revocations[:enrolment.MaxRevocations], true
	}
	return p
}

func tail(list [][]byte, most int) [][]byte { return slices.Clip(list[max(0, len(list)-most):]) }

// renew gives a member its newest certificate.
func (s *Server) renew(c *call) ([]byte, *refusal) {
	renew := c.view.authority.Renew
	if c.expired {
		renew = c.view.authority.RenewExpired
	}
	cert, err := renew(c.member)
	if errors.Is(err, ca.ErrGraceOver) {
		return nil, refuse(enrolment.Expired, err)
	}
	if errors.Is(err, ca.ErrNameInUse) || errors.Is(err, ca.ErrExpired) {
		return nil, refuse(enrolment.Refused, err)
	}
	if err != nil {
		return nil, s.noMember(c, err)
	}
	v, err := s.published()
	if err != nil {
		return nil, refuse(enrolment.Failed, err)
	}
	s.seen.renewed(cert)
	level, what := slog.LevelInfo, "renewed"
	switch {
	case c.expired:
		what = "renewed within the grace"
	case cert.Hash() == c.cert.Hash():
		level, what = slog.LevelDebug, "certificate unchanged"
	}
	s.deeds.note(level, what, "name", cert.Name(), "member", c.member, "serial", cert.Body().Serial,
		"remote", c.r.RemoteAddr)
	return write(enrolment.RenewAnswer{Certificate: cert.Raw(), Authorities: v.Authorities})
}
