package service

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
)

// sync takes in what a member knows, and tells what it does not.
func (s *Server) sync(w http.ResponseWriter, c *call) ([]byte, *refusal) {
	q, no := read[enrolment.SyncRequest](w, c.r, enrolment.MaxRequest)
	if no != nil {
		return nil, no
	}
	if len(q.Endpoint) > 0 {
		if err := s.seen.note(s.group, c.cert, q.Endpoint, s.cfg.Now()); err != nil {
			return nil, refuse(enrolment.Refused, err)
		}
	}
	for _, raw := range q.Leaves {
		if no := s.left(c, raw); no != nil && no.reason == enrolment.Failed {
			return nil, no
		} else if no != nil {
			// A leave that this authority cannot use does not spoil the rest of
			// what an honest member brings. A liar gets no more done with it.
			s.notices.note(slog.LevelWarn, "leave not recorded", "from", c.member, "remote", c.r.RemoteAddr, "reason", no.cause)
			break
		}
	}
	v, err := s.published()
	if err != nil {
		return nil, refuse(enrolment.Failed, err)
	}
	return write(enrolment.SyncAnswer{
		Publication: v.since(q.Configuration, q.Revocations),
		Peers:       s.seen.draw(c.member, s.cfg.Now(), v),
	})
}

// leave takes in one leave.
func (s *Server) leave(w http.ResponseWriter, c *call) ([]byte, *refusal) {
	q, no := read[enrolment.LeaveRequest](w, c.r, enrolment.MaxRequest)
	if no == nil {
		no = s.left(c, q.Leave)
	}
	return nil, no
}

// left takes in a leave. One that was taken in before, or of a member that was
// revoked, is none to complain about.
func (s *Server) left(c *call, raw []byte) *refusal {
	sum := sha256.Sum256(raw)
	if s.noted.has(sum) {
		return nil
	}
	err := c.view.authority.Left(raw)
	switch {
	case err == nil:
		s.deeds.note(slog.LevelInfo, "left", "leave", leaver(c, raw), "from", c.member, "remote", c.r.RemoteAddr)
	case errors.Is(err, ca.ErrRevoked):
	case errors.Is(err, certificate.ErrMalformed), errors.Is(err, certificate.ErrSigner),
		errors.Is(err, certificate.ErrSignature), errors.Is(err, ca.ErrUnknown):
		return refuse(enrolment.Refused, err)
	default:
		return refuse(enrolment.Failed, s.failed(c.view.authority, err))
	}
	s.noted.add(sum)
	return nil
}

// evidence takes in proof against a member. What was taken in before is not looked
// at again.
func (s *Server) evidence(w http.ResponseWriter, c *call) ([]byte, *refusal) {
	q, no := read[enrolment.EvidenceRequest](w, c.r, enrolment.MaxEvidenceRequest)
	if no != nil {
		return nil, no
	}
	sum := sha256.Sum256(q.Evidence)
	if s.noted.has(sum) {
		return nil, nil
	}
	e, news, err := c.view.authority.TakeEvidence(q.Evidence, c.member)
	switch {
	case errors.Is(err, ca.ErrNoEvidence), errors.Is(err, ca.ErrUnknown):
		return nil, refuse(enrolment.Refused, err)
	case err != nil:
		return nil, refuse(enrolment.Failed, s.failed(c.view.authority, err))
	case news:
		s.deeds.note(slog.LevelWarn, "evidence", "against", e.Accused, "name", e.Name, "of", e.Kind, "id", e.ID.Short(),
			"from", c.member, "file", e.File)
	}
	s.noted.add(sum)
	return nil, nil
}

// leaver is whom a leave that was taken in is about.
func leaver(c *call, raw []byte) string {
	m, err := certificate.LeaveSigner(c.cert.Body().Group, raw)
	if err != nil {
		return "unknown"
	}
	return m.String()
}
