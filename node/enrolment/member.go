package enrolment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// Client is a member or a gate that talks to its group's service. It is a value: make a
// new one when the certificate or the group has changed. Errors of its methods:
// *RevokedError, ErrLeft, ErrExpired, ErrNotYetValid, ErrRefused, *BusyError,
// ErrFailed, ErrUnreachable, ErrImpostor, *ClockError, ErrAnswer.
type Client struct {
	Addresses   []string // of the service, host:port, in order of preference
	Group       *group.Group
	Certificate certificate.Certificate
	Key         *signature.PrivateKey // of Certificate
	Now         func() time.Time      // nil means time.Now
}

func (c Client) call(ctx context.Context, path string, body []byte) (reply, error) {
	shown, err := transport.TLSCertificate(c.Key, c.Certificate)
	if err != nil {
		return reply{}, err
	}
	to := caller{
		addresses: c.Addresses, member: shown,
		trust: trust{group: c.Group.ID(), known: c.Group, now: clockOr(c.Now)},
	}
	return to.call(ctx, path, body)
}

// Renewed is a member's newest certificate.
type Renewed struct {
	Certificate certificate.Certificate
	// Authorities are the statements about all CA keys, each vouched for by one
	// before it: a new one may have signed the certificate.
	Authorities [][]byte
	Skew        time.Duration // how much this machine's clock is slow, as in Enrolled
}

// Renew asks for a new certificate for the same key. The authority gives back
// the one that there is while more than two thirds of its life are left.
func (c Client) Renew(ctx context.Context) (Renewed, error) {
	got, err := c.call(ctx, PathRenew, nil)
	if err != nil {
		return Renewed{}, err
	}
	answer, err := Decode[RenewAnswer](got.body)
	if err != nil {
		return Renewed{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	cert, err := certificate.ParseAny(c.Group.ID(), answer.Certificate, c.Group.Vouched(answer.Authorities))
	if err != nil {
		return Renewed{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if cert.Member() != c.Certificate.Member() {
		return Renewed{}, fmt.Errorf("%w: a certificate of member %v", ErrAnswer, cert.Member())
	}
	if cert.Role() != c.Certificate.Role() {
		return Renewed{}, fmt.Errorf("%w: %w: %v", ErrAnswer, certificate.ErrRole, cert.Role())
	}
	return Renewed{Certificate: cert, Authorities: answer.Authorities, Skew: got.skew}, nil
}

// Mine is what a member has, so that the service tells what is newer.
type Mine struct {
	Revocations uint64   // it has all up to this version
	Endpoint    []byte   // its endpoint record; may be empty
	Leaves      [][]byte // that it knows of; the first MaxLeaves are sent
}

// News is what a member did not have.
type News struct {
	Group       *group.Group // with the newer configuration, or the one that the client had
	Authorities [][]byte     // the statements about all CA keys, each vouched for by one before it
	Revocations [][]byte     // not verified, ascending by version
	Leaves      [][]byte     // not verified, may be known
	More        bool         // there are more revocations: ask again
	Peers       []Peer       // not verified
	Skew        time.Duration
}

// Sync tells the service where this member is, and learns what was published
// since the versions that it has.
func (c Client) Sync(ctx context.Context, m Mine) (News, error) {
	request := SyncRequest{
		Configuration: c.Group.Config().Version(), Revocations: m.Revocations, Endpoint: m.Endpoint,
		Leaves: m.Leaves[:min(len(m.Leaves), MaxLeaves)],
	}
	body, err := Encode(request)
	if err != nil {
		return News{}, err
	}
	got, err := c.call(ctx, PathSync, body)
	if err != nil {
		return News{}, err
	}
	answer, err := Decode[SyncAnswer](got.body)
	if err != nil {
		return News{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	p := answer.Publication
	news := News{
		Group: c.Group, Authorities: p.Authorities, Revocations: p.Revocations, Leaves: p.Leaves,
		More: p.More, Peers: answer.Peers, Skew: got.skew,
	}
	if len(p.Configuration) == 0 {
		return news, nil
	}
	if news.Group, err = c.Group.Update(p.Configuration, p.Authorities); err != nil {
		return News{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return news, nil
}

// Leave tells the authority that a member has left: raw is signed by it. Any
// member may bring it. When this member has left already, that is no error.
func (c Client) Leave(ctx context.Context, raw []byte) error {
	body, err := Encode(LeaveRequest{Leave: raw})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, PathLeave, body)
	if errors.Is(err, ErrLeft) {
		return nil
	}
	return err
}

// Evidence brings the authority proof against some member. That it has it
// already, or enough against that member, is no error. ErrRefused says that the
// authority holds it for no evidence, or does not know the accused: its log says
// why.
func (c Client) Evidence(ctx context.Context, raw []byte) error {
	body, err := Encode(EvidenceRequest{Evidence: raw})
	if err != nil {
		return err
	}
	_, err = c.call(ctx, PathEvidence, body)
	return err
}

// load is the group that a publication with a configuration describes.
func load(id ident.Group, p Publication) (*group.Group, error) {
	var blocks []keyfile.Block
	for _, raw := range p.Authorities {
		blocks = append(blocks, keyfile.Block{Type: keyfile.CACertificate, Bytes: raw})
	}
	blocks = append(blocks, keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: p.Configuration})
	g, _, err := group.Load(blocks)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if g.ID() != id {
		return nil, fmt.Errorf("%w: group %v", ErrAnswer, g.ID())
	}
	return g, nil
}
