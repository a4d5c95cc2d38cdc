package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// DefaultTimeout bounds one check. Most take some milliseconds; those that wait
// for the member's own timeouts say how much they need.
const DefaultTimeout = 10 * time.Second

// DefaultQuiet is how long a check listens on where nothing may be said, after
// the member has answered something later. This project's members answer in
// order, so that they need none of it; others may let an answer overtake one that
// waits for a disk.
const DefaultQuiet = 200 * time.Millisecond

// Identity is a member that the run plays.
type Identity struct {
	Certificate certificate.Certificate
	Key         *signature.PrivateKey // of Certificate
}

// Options say what to test, and as whom. Address, Group, Identity and Resource
// must be given.
type Options struct {
	Address  string // of the member under test, "host:port"
	Group    *group.Group
	Identity Identity // not of a member that runs; made for the test, at best
	Resource string   // of the group, of which tokens are made; at best one that nobody uses
	// Revoked and Expired are members that the one under test must not serve. The
	// checks that need them are skipped without.
	Revoked, Expired *Identity
	// Newer is the group with a newer configuration that lacks Resource. The check that
	// needs it is skipped without; with it, the member goes by it from then on.
	Newer    *group.Group
	Timeout  time.Duration // of each check; 0: DefaultTimeout
	Quiet    time.Duration // see DefaultQuiet; negative: none
	Only     []string      // names of the checks to make; empty: all
	Progress func(Result)  // told of each result when it is there; may be nil

	slack time.Duration // replaces offerAgainSlack in tests, unless 0
}

// Report is what a run has shown.
type Report struct {
	Member  ident.Member
	Name    string // in the member's certificate
	Results []Result
	Made    int // tokens that were handed to the member
	Left    int // of these, how many had not come back at the end
}

// Count is how many checks ended so.
func (r *Report) Count(v Verdict) (n int) {
	for _, result := range r.Results {
		if result.Verdict == v {
			n++
		}
	}
	return n
}

// run is what the checks of one run share: who plays, and numbers that must not
// be used twice.
type run struct {
	Options
	wallet
	quic     *quic.Transport
	to       net.Addr
	subject  certificate.Certificate // of the member under test
	process  [16]byte
	ordinal  uint64
	sequence uint64      // of the last genesis
	drawn    uint64      // the highest accept number of the member
	settled  uint64      // what the member is promised: all below is settled (H-8)
	hello    *wire.Hello // the member's last
	record   certificate.SignedEndpoint
}

// Key makes a run the keyring of its two members.
func (r *run) Key(m ident.Member) *signature.PublicKey {
	switch m {
	case r.self:
		return r.Identity.Certificate.Key()
	case r.subject.Member():
		return r.subject.Key()
	}
	return nil
}

// Run plays all checks, one after the other. An error says that none could be
// made: ErrUnreachable, ErrRefused, ErrOptions, or the end of ctx. With the end
// of ctx, and ErrGone, the report has the results so far.
func Run(ctx context.Context, o Options) (*Report, error) {
	r, err := newRun(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	if err := r.meet(ctx); err != nil {
		return nil, err
	}
	report := &Report{Member: r.subject.Member(), Name: r.subject.Name()}
	for _, c := range Checks() {
		if err != nil || len(o.Only) > 0 && !slices.Contains(o.Only, c.Name) {
			continue
		}
		result := r.try(ctx, c)
		if ctx.Err() != nil {
			break
		}
		report.Results = append(report.Results, result)
		if o.Progress != nil {
			o.Progress(result)
		}
		if result.Verdict == Fail && r.isGone(ctx) {
			err = ErrGone
		}
	}
	if err == nil {
		r.settle()
	}
	for _, out := range r.given {
		report.Made++
		if out {
			report.Left++
		}
	}
	return report, cmp.Or(err, ctx.Err())
}

func newRun(ctx context.Context, o Options) (*run, error) {
	o.Timeout, o.Quiet = cmp.Or(o.Timeout, DefaultTimeout), cmp.Or(o.Quiet, DefaultQuiet)
	if o.Group == nil || o.Identity.Key == nil {
		return nil, fmt.Errorf("%w: no identity", ErrOptions)
	}
	if _, ok := o.Group.Config().Resource(o.Resource); !ok {
		return nil, fmt.Errorf("%w: the group has no resource %q", ErrOptions, o.Resource)
	}
	if o.Newer != nil {
		if _, ok := o.Newer.Config().Resource(o.Resource); ok {
			return nil, fmt.Errorf("%w: the newer configuration has resource %q, too", ErrOptions, o.Resource)
		}
	}
	for _, name := range o.Only {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return c.Name == name }) {
			return nil, fmt.Errorf("%w: there is no check %q", ErrOptions, name)
		}
	}
	to, err := resolve(ctx, o.Address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	socket, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	r := &run{Options: o, quic: &quic.Transport{Conn: socket}, to: to}
	r.wallet = newWallet(o.Group.ID(), o.Identity, r)
	rand.Read(r.process[:])
	return r, nil
}

func resolve(ctx context.Context, address string) (*net.UDPAddr, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, err
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	return &net.UDPAddr{IP: list[0].AsSlice(), Port: port, Zone: list[0].Zone()}, nil
}

// meet finds out who is there, and whether it talks to this identity at all.
func (r *run) meet(ctx context.Context) (err error) {
	result := r.try(ctx, Check{script: func(t *trial) {
		err = nil // of the try before
		s, e := t.handshake(t.own())
		if e != nil {
			err = e
			return
		}
		if s.cert.Member() == t.self {
			err = fmt.Errorf("%w: the identity is the member under test itself", ErrOptions)
			return
		}
		t.sign(s)
		if _, err = s.readPreamble(s.preamble()); err != nil {
			t.fail("no preamble")
		}
	}})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrOptions):
		return err
	case isAlert(err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	case result.Verdict != Pass:
		return fmt.Errorf("%w: %s", ErrUnreachable, result.Detail)
	}
	return nil
}

// isGone reports whether nothing at all comes from the member any more: then the
// checks that are left would fail one by one, each after its timeout.
func (r *run) isGone(ctx context.Context) bool {
	var err error
	r.try(ctx, Check{script: func(t *trial) { _, err = t.handshake(t.own()) }})
	var waited net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &waited) && waited.Timeout()
}

// sign notes who the member under test is, and states where this one is: attached
// to it alone, so that it hands tokens to this one first.
func (t *trial) sign(s *session) {
	t.subject = s.cert
	t.record = t.endpoint(s.cert.Member())
}

// endpoint signs a new endpoint record of this member.
func (t *trial) endpoint(attached ...ident.Member) certificate.SignedEndpoint {
	sequence := max(uint64(time.Now().UnixMilli()), t.record.Body().Sequence+1)
	e, err := certificate.Endpoint{
		Member: t.self, Sequence: sequence, Mode: certificate.DialsOut, Attached: attached, Time: uint64(time.Now().UnixMilli()),
	}.Sign(t.Group.ID(), t.Identity.Key)
	t.check(err == nil, "endpoint record not signed: %v", err)
	return e
}

// settle takes leave: it says that nothing is open any more, and that it is
// attached to nobody. It is done when the run was interrupted, too.
func (r *run) settle() {
	r.try(context.Background(), Check{script: func(t *trial) {
		t.record = t.endpoint()
		s := t.greet()
		s.fence()
	}})
}

func (r *run) stop() {
	r.quic.Close()
	r.quic.Conn.Close()
}

// isAlert reports whether the peer has ended the handshake by a TLS alert.
func isAlert(err error) bool {
	var e *quic.TransportError
	return errors.As(err, &e) && e.Remote && e.ErrorCode.IsCryptoError()
}
