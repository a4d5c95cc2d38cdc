package service

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// refusal is why a request is not granted, for the client and for the log.
type refusal struct {
	reason enrolment.Reason
	object []byte        // a revocation
	after  time.Duration // when to try again, if Busy
	cause  error
}

func refuse(reason enrolment.Reason, cause error) *refusal {
	return &refusal{reason: reason, cause: cause}
}

func busy(after time.Duration) *refusal {
	return &refusal{reason: enrolment.Busy, after: after, cause: errBusy}
}

var (
	errBusy = errors.New("too many requests")
	errPath = errors.New("no such request")
)

// handle answers one request.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.cfg.Now().UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", enrolment.ContentType)
	body, no := s.answer(w, r)
	switch {
	case no != nil:
		s.sayNo(w, r, no)
	case body == nil:
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNoContent)
	default:
		_, _ = w.Write(body) // who does not read it asks again
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.Method != http.MethodPost {
		return nil, refuse(enrolment.Refused, errPath)
	}
	switch r.URL.Path {
	case enrolment.PathEnrol:
		return s.enrol(w, r)
	case enrolment.PathRenew:
		return s.asMember(r, s.renew, graceful)
	case enrolment.PathSync:
		return s.asMember(r, func(c *call) ([]byte, *refusal) { return s.sync(w, c) }, strict)
	case enrolment.PathLeave:
		return s.asMember(r, func(c *call) ([]byte, *refusal) { return s.leave(w, c) }, strict)
	case enrolment.PathEvidence:
		return s.asMember(r, func(c *call) ([]byte, *refusal) { return s.evidence(w, c) }, strict)
	}
	return nil, refuse(enrolment.Refused, errPath)
}

// sayNo sends a refusal: the same bytes for the same reason, whoever gets it
// for whatever.
func (s *Server) sayNo(w http.ResponseWriter, r *http.Request, no *refusal) {
	level := slog.LevelWarn
	if no.reason == enrolment.Failed {
		level = slog.LevelError
	}
	s.notices.note(level, "refused", "request", clipped(r.URL.Path), "remote", r.RemoteAddr, "answer", no.reason.Err(), "reason", no.cause)
	body, err := enrolment.Encode(enrolment.Refusal{Reason: no.reason, Object: no.object})
	if err != nil {
		body = nil
	}
	if no.reason == enrolment.Busy {
		seconds := max(1, int64(math.Ceil(no.after.Seconds())))
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(no.reason.Status())
	_, _ = w.Write(body)
}

// clipped keeps what a stranger has chosen short in the log.
func clipped(text string) string { return text[:min(len(text), 64)] }

// read reads a body and decodes it.
func read[M enrolment.Message](w http.ResponseWriter, r *http.Request, most int64) (M, *refusal) {
	var none M
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		return none, refuse(enrolment.Refused, err)
	}
	m, err := enrolment.Decode[M](raw)
	if err != nil {
		return none, refuse(enrolment.Refused, err)
	}
	return m, nil
}

func write[M enrolment.Message](m M) ([]byte, *refusal) {
	body, err := enrolment.Encode(m)
	if err != nil {
		return nil, refuse(enrolment.Failed, err)
	}
	return body, nil
}

// call is the request of somebody who has shown that he is a member, or of a gate.
type call struct {
	r      *http.Request
	view   view
	cert   certificate.Certificate
	member ident.Member

	expired bool // the certificate has; of a graceful request
}

// expiry is whether a request may come from one whose certificate has expired.
type expiry bool

const (
	strict   expiry = false
	graceful expiry = true // it may, if the group has a renew_grace
)

// asMember lets members and gates in only, and those who were: they are told that they
// are none any more.
func (s *Server) asMember(r *http.Request, do func(*call) ([]byte, *refusal), e expiry) ([]byte, *refusal) {
	cert, err := s.identify(r)
	expired := errors.Is(err, transport.ErrExpired)
	switch {
	case expired && e == graceful:
	case expired:
		return nil, refuse(enrolment.Expired, err)
	case errors.Is(err, transport.ErrNotYetValid):
		return nil, refuse(enrolment.NotYetValid, err)
	case err != nil:
		return nil, refuse(enrolment.Refused, err)
	}
	if wait := s.members.take(cert.Member(), s.cfg.Now()); wait > 0 {
		return nil, busy(wait)
	}
	v, failed := s.published()
	if failed != nil {
		return nil, refuse(enrolment.Failed, failed)
	}
	if expired && v.authority.Config().Settings().RenewGrace == 0 {
		return nil, refuse(enrolment.Expired, err)
	}
	c := &call{r: r, view: v, cert: cert, member: cert.Member(), expired: expired}
	if err := v.authority.Eligible(c.member); err != nil {
		return nil, s.noMember(c, err)
	}
	return do(c)
}

// identify is the certificate that a client showed. The CA's retired keys count
// here too: who has been away during a rotation gets a new certificate. That it
// was issued, Eligible says. Nothing is read from the disk for strangers, but
// for a few of those whose CA key another process may just have made.
func (s *Server) identify(r *http.Request) (certificate.Certificate, error) {
	now := s.cfg.Now()
	cert, err := transport.IdentifyAny(s.group, s.current(), r.TLS.PeerCertificates, now)
	if !errors.Is(err, transport.ErrOtherGroup) || s.enrols.take(now) > 0 {
		return cert, err
	}
	v, failed := s.published()
	if failed != nil {
		return cert, err
	}
	return transport.IdentifyAny(s.group, v.authority, r.TLS.PeerCertificates, now)
}

// noMember says to somebody with a good certificate why it does not count, or
// that something else went wrong.
func (s *Server) noMember(c *call, err error) *refusal {
	no := refuse(enrolment.Failed, s.failed(c.view.authority, err))
	switch {
	case errors.Is(err, ca.ErrRevoked):
		no.reason, no.object = enrolment.Revoked, c.revocation()
	case errors.Is(err, ca.ErrLeft):
		no.reason = enrolment.Left
	case errors.Is(err, ca.ErrUnknown):
		no.reason = enrolment.Refused
	default:
		return no
	}
	s.seen.forget(c.member)
	return no
}

// revocation is that of the member, nil if it is not among those published.
func (c *call) revocation() []byte {
	for _, raw := range c.view.Revocations {
		if r, err := certificate.ParseRevocation(c.cert.Body().Group, raw, c.view.authority); err == nil && r.Body().Member == c.member {
			return raw
		}
	}
	return nil
}
