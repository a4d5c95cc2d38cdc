package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// endpoint is the last endpoint record of one member that another journalled.
func (m *machine) endpoint(of *machine) (last certificate.Endpoint) {
	for _, e := range m.journal() {
		r, ok := e.Record.(*journal.Known)
		if !ok || r.What != journal.KnownEndpoint {
			continue
		}
		s, err := certificate.ParseEndpoint(m.w.ca.Group(), r.Object, of.key.Public())
		if err == nil && s.Body().Sequence > last.Sequence {
			last = s.Body()
		}
	}
	return last
}

// attachments are to whom a member that only dials out says that it is attached.
func (m *machine) attachments() []ident.Member { return m.endpoint(m).Attached }

// Three members that can be dialled and two that only dial out: all operate. When
// an attachment dies, its members attach elsewhere and go on.
func TestDialOut(t *testing.T) {
	t.Parallel()
	w := newRegeneratingWorld(t)
	a, b, c, x, y := w.join("a"), w.join("b"), w.join("c"), w.join("x"), w.join("y")
	d := w.join("d")
	x.listen, y.listen = "", ""
	w.start(a, b, c, d, x, y)
	w.circulate(a, b, c, d, x, y)
	for _, m := range []*machine{x, y} {
		w.until(m.name+" says to whom it is attached", func() bool { return len(m.attachments()) == directory.Attachments })
		require.Equal(t, certificate.DialsOut, m.endpoint(m).Mode)
		require.NotContains(t, m.attachments(), x.id)
		require.NotContains(t, m.attachments(), y.id)
	}
	all := []*machine{a, b, c, d}
	dies := all[slices.IndexFunc(all, func(m *machine) bool { return slices.Contains(x.attachments(), m.id) })]
	rest := slices.DeleteFunc(all, func(m *machine) bool { return m == dies })
	dies.kill()
	w.until("x attaches elsewhere", func() bool {
		return len(x.attachments()) == directory.Attachments && !slices.Contains(x.attachments(), dies.id)
	})
	w.circulate(append(rest, x, y)...)
	w.start(dies)
	w.circulate(append(rest, x, y, dies)...)
	w.audit(dies)
}

// A member that only dials out is killed when it is being sent the token. Nobody
// can dial it: when it is back, it dials, and the token is with one of the two.
func TestAnswerOfWhoCannotBeDialled(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(s *group.Settings) { s.Resources[0].Params.SkipDelay = time.Millisecond })
	a, b, x := w.join("a"), w.join("b"), w.join("x")
	x.listen = ""
	w.start(a, b, x)
	w.circulate(a, b, x)
	w.until("a transfer is cut", func() bool {
		x.kill()
		cut := w.underWayTo(x)
		require.NoError(t, x.open(nil))
		w.circulate(a, b, x)
		return cut
	})
	w.audit()
}

// underWayTo reports whether the token has been sent to a machine that is down,
// and did not arrive.
func (w *world) underWayTo(m *machine) bool {
	return slices.ContainsFunc(w.report().Tokens, func(t audit.Token) bool {
		return t.Fate == audit.UnderWay && t.To == m.id
	})
}
