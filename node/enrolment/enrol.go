package enrolment

import (
	"context"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/invite"
)

// Enrolled is what a newcomer has become a member, or a gate, with.
type Enrolled struct {
	Certificate certificate.Certificate // for the key and name of the request
	Group       *group.Group            // as the authority has it now
	Revocations [][]byte                // not verified, ascending by version
	Leaves      [][]byte                // not verified
	More        bool                    // there are more revocations: Client.Sync has them
	Peers       []Peer                  // not verified: members heard of lately
	Others      uint64                  // how many other members there are
	// Skew is how much the clock of this machine is slow against the
	// authority's; negative when it is fast.
	Skew time.Duration
}

// Enrol becomes a member: it brings the invite and the request to the service,
// and verifies what comes back. The request's key must be on disk already:
// after a crash the same invite works again for the same key only. now is the
// clock; nil means time.Now. Errors: ErrRefused, *BusyError, ErrFailed,
// ErrUnreachable, ErrImpostor, *ClockError, ErrAnswer.
func Enrol(ctx context.Context, i invite.Invite, r certificate.SignedRequest, now func() time.Time) (Enrolled, error) {
	body, err := Encode(EnrolRequest{ID: i.ID, Secret: i.Secret, Request: r.Raw()})
	if err != nil {
		return Enrolled{}, err
	}
	c := caller{addresses: i.Addresses, trust: trust{group: i.Group, pinned: i.Authority, now: clockOr(now)}}
	got, err := c.call(ctx, PathEnrol, body)
	if err != nil {
		return Enrolled{}, err
	}
	answer, err := Decode[EnrolAnswer](got.body)
	if err != nil {
		return Enrolled{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	e, err := answer.verify(i, r)
	e.Skew = got.skew
	return e, err
}

func clockOr(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

// verify checks that the answer is what was asked for: from the CA that the
// invite names, about the request's key. The service has proved already that it
// speaks for that CA, so this finds its mistakes.
func (a EnrolAnswer) verify(i invite.Invite, r certificate.SignedRequest) (Enrolled, error) {
	g, err := load(i.Group, a.Publication)
	if err != nil {
		return Enrolled{}, err
	}
	cert, err := certificate.ParseAny(i.Group, a.Certificate, g)
	if err != nil {
		return Enrolled{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if !cert.Key().Equal(r.Key()) || cert.Name() != r.Body().Name {
		return Enrolled{}, fmt.Errorf("%w: a certificate for another key or name", ErrAnswer)
	}
	p := a.Publication
	return Enrolled{
		Certificate: cert, Group: g, Revocations: p.Revocations, Leaves: p.Leaves, More: p.More,
		Peers: a.Peers, Others: a.Others,
	}, nil
}
