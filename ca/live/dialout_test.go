package live_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
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
	w.audit()
}

// Two members only dial out, and one can be dialled: the ring has no place for one of
// them, which says so until another member can be dialled, too.
func TestRing_NoPlace_InStatus(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(s *group.Settings) {
		s.Resources[0].Policy, s.Resources[0].Params = catalog.Ring, policy.Params{
			OperationTime: 10 * time.Millisecond, MembersMax: 5, SkipDelay: 20 * time.Millisecond,
		}
	})
	a, x, y := w.join("a"), w.join("x"), w.join("y")
	x.listen, y.listen = "", ""
	w.start(a, x, y)
	outside := func(m *machine) bool {
		st := m.Status()
		warned := slices.ContainsFunc(st.Warnings, func(w api.Warning) bool { return w.Cause == explain.NoPlace })
		return warned && st.Resources[0].NoPlace
	}
	w.until("one of them says so", func() bool { return outside(x) != outside(y) })
	require.False(t, outside(a))
	w.circulate(a)
	b := w.join("b")
	w.start(b)
	w.circulate(a, b, x, y)
	w.until("both have a place", func() bool { return !outside(x) && !outside(y) })
}

// A member that only dials out is killed when it is being sent the token. Nobody
// can dial it: when it is back, it dials, and the token is with one of the two.
func TestAnswer_MemberOnlyDialsOut_Arrives(t *testing.T) {
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

// A member dies when it waits for the answer of one that only dials out, which
// attaches elsewhere meanwhile. When it is back it gets its answer, although it
// cannot ask for it: the other one dials.
func TestAnswer_AttachedElsewhere_Arrives(t *testing.T) {
	t.Parallel()
	w := newRegeneratingWorld(t)
	a, b, c, d, x := w.join("a"), w.join("b"), w.join("c"), w.join("d"), w.join("x")
	x.listen = ""
	w.start(a, b, c, d, x)
	w.circulate(a, b, c, d, x)
	w.until("somebody dies in time", func() bool {
		for _, m := range []*machine{a, b, c, d} {
			m.kill()
			if len(m.unanswered(x)) > 0 {
				a = m
				return true
			}
			w.start(m)
			w.circulate(m)
		}
		return false
	})
	waits := a.unanswered(x)
	w.until("x attaches elsewhere", func() bool { return !slices.Contains(x.attachments(), a.id) })
	w.start(a)
	w.until("the answer", func() bool {
		return !slices.ContainsFunc(a.unanswered(x), func(h hop) bool { return slices.Contains(waits, h) })
	})
	w.circulate(x, a)
	w.audit()
}

type hop struct {
	token ident.Token
	hop   uint64
}

// unanswered are the hops that a machine has sent to another and that are neither
// receipted nor taken back, as its journal says.
func (m *machine) unanswered(to *machine) (list []hop) {
	for _, e := range m.journal() {
		var over hop
		switch r := e.Record.(type) {
		case *journal.Sent:
			b, _, err := token.PeekTransfer(m.w.ca.Group(), r.Transfer)
			require.NoError(m.w, err)
			if b.To == to.id {
				list = append(list, hop{b.Token, b.Hop})
			}
		case *journal.Closed:
			over = hop{r.Token, r.Hop + 1}
		case *journal.Reclaimed:
			over = hop{r.Token, r.Hop}
		}
		list = slices.DeleteFunc(list, func(h hop) bool { return h == over })
	}
	return list
}
