package directory

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Pages has what peers see of the register: which members are on pages, what a
// page says of each, and the fingerprints by which two directories are
// compared.
type Pages struct {
	known     *Register
	forgotten time.Time // see Directory.Forget
}

// list keeps a member with a certificate in the order of ids, with what it adds
// to the sums there.
func (p *Pages) list(f *facts) {
	if f.known() && !f.listed {
		f.listed = true
		p.known.order.add(f)
	}
	if !f.listed {
		return
	}
	shown, fingerprint := p.shows(f), Fingerprint{}
	if shown {
		fingerprint = p.fingerprint(f)
	}
	p.known.order.show(f, shown, fingerprint)
	p.known.order.unpair(f)
	if !f.known() {
		f.listed = false
		p.known.order.remove(f)
	}
}

// shows reports whether a member is on pages and in fingerprints: it has a
// certificate of a CA key in force that did not end before what has been
// forgotten, and it is not revoked. Revocations travel by their versions.
func (p *Pages) shows(f *facts) bool {
	return f.known() && !f.retired && f.revocation() == nil && !p.isForgotten(f.notAfter)
}

// provable reports whether a statement is handed on: its witness is on a page,
// too, so that whoever gets it can verify it.
func (p *Pages) provable(s statement) bool {
	w := p.known.members[s.witness]
	return w != nil && p.shows(w)
}

// fingerprint is the first bytes of SHA-256 over the SHA-256 of each encoded
// object: the certificate, the endpoint record, the leave (zeros for one that
// there is not), and the failure statements that are handed on. Bytes and not
// what they say are hashed, so that two who hold different bytes find out.
func (p *Pages) fingerprint(f *facts) Fingerprint {
	h := sha256.New()
	var sum [sha256.Size]byte
	add := func(raw string) {
		sum = [sha256.Size]byte{}
		if raw != "" {
			sum = sha256.Sum256([]byte(raw))
		}
		h.Write(sum[:])
	}
	add(f.certificate.Raw())
	add(f.endpoint.Raw())
	left := ""
	if l := f.leave(); l != nil {
		left = l.raw
	}
	add(left)
	for _, s := range f.failures() {
		if p.provable(s) {
			add(s.raw)
		}
	}
	return Fingerprint(h.Sum(sum[:0]))
}

// isForgotten reports whether a certificate that ended in this second has been
// forgotten.
func (p *Pages) isForgotten(notAfter int64) bool {
	return time.Unix(notAfter, 0).Before(p.forgotten)
}

// fresh returns ErrForgotten for a certificate that has been forgotten.
func (p *Pages) fresh(c certificate.Claims) error {
	if p.isForgotten(c.NotAfter.Unix()) {
		return fmt.Errorf("%w: at %s", ErrForgotten, rfc3339(c.NotAfter.Unix()))
	}
	return nil
}

// entryOverhead is what an entry of a page costs beside its objects: the heads
// of an array, three byte strings and a list.
const entryOverhead = 1 + 3*3 + 1

// statementOverhead is the head of a failure statement.
const statementOverhead = 3

// Page returns the members with ids from the one to the other, both included,
// in the order of ids: at most most entries, which together encode to at most
// maxBytes, but at least one if the range has any. The page covers the range up
// to last; more says that members of the range remain above last. Revoked
// members are left out, and so are members whose certificate ended before the
// time given to Forget. An entry has at most 45 kB, and half a kilobyte on most
// pages.
func (p *Pages) Page(from, through ident.Member, most, maxBytes int) (entries []wire.Entry, last ident.Member, more bool) {
	size := 0
	for f := range p.known.order.from(from) {
		if f.id.Compare(through) > 0 {
			break
		}
		if !f.shown {
			continue
		}
		e := p.entry(f)
		size += sizeOf(e)
		if len(entries) > 0 && (len(entries) >= most || size > maxBytes) {
			return entries, last, true
		}
		entries, last = append(entries, e), f.id
	}
	return entries, through, false
}

func sizeOf(e wire.Entry) int {
	n := entryOverhead + len(e.Certificate) + len(e.Endpoint) + len(e.Leave)
	for _, raw := range e.Failures {
		n += statementOverhead + len(raw)
	}
	return n
}

func (p *Pages) entry(f *facts) wire.Entry {
	e := wire.Entry{Certificate: bytesOf(f.certificate.Raw()), Endpoint: bytesOf(f.endpoint.Raw())}
	if l := f.leave(); l != nil {
		e.Leave = []byte(l.raw)
	}
	for _, s := range f.failures() {
		if p.provable(s) {
			e.Failures = append(e.Failures, []byte(s.raw))
		}
	}
	return e
}

// Entry returns what a page says about m. It also returns the entry of a member
// that is on no page.
func (p *Pages) Entry(m ident.Member) (e wire.Entry, ok bool) {
	f := p.known.members[m]
	if f == nil || !f.known() {
		return wire.Entry{}, false
	}
	return p.entry(f), true
}
