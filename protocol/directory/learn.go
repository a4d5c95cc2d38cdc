package directory

import (
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Learned says what LearnPage did with one entry of a page.
type Learned struct {
	Member      ident.Member // whom the certificate is about; zero when it cannot be read
	Certificate bool         // these are news
	Endpoint    bool
	Leave       bool
	Failures    []int // indices of the statements that are news
	Err         error // the first thing that is wrong with the entry, or nil
}

// page is a page of a peer's directory that is being read. Every signature in
// it waits in one batch; what follows from its being good waits beside it.
type page struct {
	d       *Directory
	learned []Learned
	keys    map[ident.Member]*signature.PublicKey // of the certificates on the page
	batch   envelope.Batch
	accept  []func(envelope.Result)
}

// LearnPage takes in the entries of one page of a peer's directory, and returns
// one answer for each. It checks all signatures in one batch, which costs less
// than half of checking one by one; if one of them is bad, it then checks one
// by one. It does not check again what is known. Certificates come first, so
// the order of entries makes no difference, and witnesses may be anywhere on
// the page. The errors of an entry are those of Learn, LearnEndpoint,
// LearnLeave and LearnFailure, and ErrEntry; an error in one entry keeps no
// other entry out. With a sample, LearnPage passes over entries of members that
// the sample does not want. random is for the batch, see
// signature.Batch.Verify.
//
// A page that fits a frame has fewer than 500 signatures. Such a page with a
// bad signature costs about 40 ms, a page of 64 new members 4 ms.
func (d *Directory) LearnPage(entries []wire.Entry, random io.Reader) []Learned {
	p := &page{d: d, learned: make([]Learned, len(entries)), keys: make(map[ident.Member]*signature.PublicKey)}
	for i := range entries {
		p.readCertificate(&p.learned[i], entries[i].Certificate)
	}
	for i := range entries {
		if l, e := &p.learned[i], &entries[i]; !l.Member.IsZero() && d.Wants(l.Member) {
			p.readEndpoint(l, e.Endpoint)
			p.readLeave(l, e.Leave)
			for n, raw := range e.Failures {
				p.readFailure(l, n, raw)
			}
		}
	}
	for i, r := range p.batch.Verify(random) {
		p.accept[i](r)
	}
	for i := range p.learned {
		d.mentioned(p.learned[i].Member)
	}
	return p.learned
}

// fault notes the first thing that is wrong with an entry.
func (l *Learned) fault(err error) {
	if l.Err == nil {
		l.Err = err
	}
}

// await puts an object that has been read into the batch. take is called with
// it when its signature is good.
func await[B, S any](p *page, l *Learned, u certificate.Unverified[B, S], take func(S) error) {
	u.AddTo(&p.batch)
	p.accept = append(p.accept, func(r envelope.Result) {
		s, err := u.Accept(r)
		if err == nil {
			err = take(s)
		}
		l.fault(err)
	})
}

func (p *page) readCertificate(l *Learned, raw []byte) {
	if f := p.d.holder(raw); f != nil {
		l.Member = f.id
		return
	}
	claims, err := certificate.Peek(p.d.group.ID(), raw)
	if err != nil {
		l.fault(err)
		return
	}
	l.Member = ident.MemberOf(claims.Group, claims.Key[:])
	if !p.d.Wants(l.Member) {
		return
	}
	if err := p.d.fresh(claims); err != nil {
		l.fault(err)
		return
	}
	u, err := certificate.Read(p.d.group.ID(), raw, p.d.group)
	if err != nil {
		l.fault(err)
		return
	}
	p.keys[l.Member] = certificate.KeyOf(u)
	await(p, l, u, func(c certificate.Certificate) (err error) {
		l.Certificate, err = p.d.admit(c)
		return err
	})
}

// key is the key of a member that is known or has a certificate on the page.
func (p *page) key(m ident.Member) (*signature.PublicKey, error) {
	if key := p.keys[m]; key != nil {
		return key, nil
	}
	if f := p.d.members[m]; f != nil && f.known() {
		return p.d.keys.peek(f), nil
	}
	return nil, fmt.Errorf("%w: %v", ErrUnknown, m)
}

// signer is the key for an object of the entry that must be signed by its
// member.
func (p *page) signer(l *Learned, claimed func(ident.Group, []byte) (ident.Member, error), raw []byte) (*signature.PublicKey, error) {
	m, err := claimed(p.d.group.ID(), raw)
	if err != nil {
		return nil, err
	}
	if m != l.Member {
		return nil, fmt.Errorf("%w: of %v and %v", ErrEntry, l.Member, m)
	}
	return p.key(m)
}

// known is what is known of the entry's member, now that its certificate has
// been taken in or not.
func (p *page) known(l *Learned) (*facts, error) {
	f := p.d.members[l.Member]
	if f == nil || !f.known() {
		return nil, fmt.Errorf("%w: %v", ErrUnknown, l.Member)
	}
	return f, nil
}

func (p *page) readEndpoint(l *Learned, raw []byte) {
	if f := p.d.members[l.Member]; len(raw) == 0 || f != nil && same(raw, f.endpoint.Raw()) {
		return
	}
	key, err := p.signer(l, certificate.EndpointSigner, raw)
	if err != nil {
		l.fault(err)
		return
	}
	u, err := certificate.ReadEndpoint(p.d.group.ID(), raw, key)
	if err != nil {
		l.fault(err)
		return
	}
	await(p, l, u, func(e certificate.SignedEndpoint) error {
		f, err := p.known(l)
		if err == nil {
			l.Endpoint = p.d.acceptEndpoint(f, e)
		}
		return err
	})
}

func (p *page) readLeave(l *Learned, raw []byte) {
	if f := p.d.members[l.Member]; len(raw) == 0 || f != nil && f.hasLeave(raw) {
		return
	}
	key, err := p.signer(l, certificate.LeaveSigner, raw)
	if err != nil {
		l.fault(err)
		return
	}
	u, err := certificate.ReadLeave(p.d.group.ID(), raw, key)
	if err != nil {
		l.fault(err)
		return
	}
	await(p, l, u, func(s certificate.SignedLeave) error {
		f, err := p.known(l)
		if err == nil {
			l.Leave = p.d.acceptLeave(f, s)
		}
		return err
	})
}

func (p *page) readFailure(l *Learned, n int, raw []byte) {
	if f := p.d.members[l.Member]; f != nil && f.hasFailure(raw) {
		return
	}
	u, err := p.failure(l, raw)
	if err != nil {
		l.fault(err)
		return
	}
	await(p, l, u, func(s certificate.SignedFailure) error {
		f, err := p.known(l)
		if err != nil {
			return err
		}
		if w := p.d.members[s.Body().Witness]; w == nil || !w.known() {
			return fmt.Errorf("%w: witness %v", ErrUnknown, s.Body().Witness)
		}
		if p.d.acceptFailure(f, s) {
			l.Failures = append(l.Failures, n)
		}
		return nil
	})
}

func (p *page) failure(l *Learned, raw []byte) (u certificate.Unverified[certificate.Failure, certificate.SignedFailure], err error) {
	witness, err := certificate.FailureSigner(p.d.group.ID(), raw)
	if err != nil {
		return u, err
	}
	key, err := p.key(witness)
	if err != nil {
		return u, err
	}
	u, err = certificate.ReadFailure(p.d.group.ID(), raw, key)
	if err == nil && u.Body().Subject != l.Member {
		err = fmt.Errorf("%w: of %v and %v", ErrEntry, l.Member, u.Body().Subject)
	}
	return u, err
}
