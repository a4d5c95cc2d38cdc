package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// keeper writes a gate's journal beside those of its members.
type keeper struct {
	*audittest.World
	number uint64
	frames []journal.Frame
}

func (k *keeper) write(r gate.Record) {
	k.Now = k.Now.Add(time.Second)
	body, err := gate.Encode(uint64(k.Now.UnixMicro()), r)
	if err != nil {
		panic(err)
	}
	k.frames = append(k.frames, journal.Frame{Type: journal.FrameRecord, Seq: uint64(len(k.frames) + 1), Body: body})
}

// opens lets a member in.
func (k *keeper) opens(m *audittest.Author, title token.Title) uint64 {
	k.number++
	k.write(&gate.OpeningRecord{
		Session: k.number, Member: m.ID, Token: title.Token(), Hop: title.Hop(), Title: title.Hash(), Generator: title.Genesis.Body().Generator,
	})
	return k.number
}

func (k *keeper) closes(session uint64) {
	k.write(&gate.ClosedRecord{Session: session, Reason: gate.BySignOut})
}

// lets is a session in which a member's program runs.
func (k *keeper) lets(m *audittest.Author, title token.Title) {
	session := k.opens(m, title)
	m.Operate(title, byte(session), 1)
	k.closes(session)
}

// report audits the members' journals, and the gate's.
func (k *keeper) report() *audit.Report {
	a := audit.New(k.Group.ID(), audit.Options{Trust: k.Trust(k.List...)})
	for _, m := range k.List {
		to := a.Journal(m.ID)
		to.Segment(true)
		for _, f := range m.Frames {
			to.Frame(f)
		}
	}
	to := a.Gate(ident.Member{9}, audittest.Resource)
	to.Segment(true)
	for _, f := range k.frames {
		to.Frame(f)
	}
	return a.Report()
}

// TestGate_Sessions_Compared: what a gate's journal says beside those of its members.
func TestGate_Sessions_Compared(t *testing.T) {
	for name, c := range map[string]struct {
		tell      func(k *keeper, a, b *audittest.Author)
		want      []audit.Kind
		sessions  int
		prevented int
	}{
		"each in its turn": {func(k *keeper, a, b *audittest.Author) {
			title := a.Generate()
			k.lets(a, title)
			k.lets(b, a.Hand(title, b))
		}, nil, 2, 0},
		"two tokens, one after the other": {func(k *keeper, a, b *audittest.Author) {
			one := a.Generate()
			session := k.opens(a, one)
			other := b.Generate()
			a.Operate(one, 1, 1)
			k.closes(session)
			k.lets(b, other)
		}, nil, 2, 1},
		"a member that the journal knows nothing of": {func(k *keeper, a, b *audittest.Author) {
			title := a.Generate()
			b.Wait(1)
			k.closes(k.opens(b, title))
			b.Wait(1)
		}, []audit.Kind{audit.NoCustody}, 1, 0},
		"the title of another": {func(k *keeper, a, b *audittest.Author) {
			title := a.Hand(a.Generate(), b)
			k.number++
			k.write(&gate.OpeningRecord{Session: k.number, Member: ident.Member{7}, Token: title.Token(), Hop: title.Hop(), Title: title.Hash()})
			k.closes(k.number)
		}, []audit.Kind{audit.NoTitle}, 1, 0},
		"around the gate": {func(k *keeper, a, b *audittest.Author) {
			k.lets(a, a.Generate())
			b.Operate(b.Generate(), 9, 1)
			k.lets(a, a.Generate())
		}, []audit.Kind{audit.NoSession}, 2, 0},
		"two at once": {func(k *keeper, a, b *audittest.Author) {
			one, other := a.Generate(), b.Generate()
			k.opens(a, one)
			k.closes(k.opens(b, other))
		}, []audit.Kind{audit.TwoSessions}, 2, 0},
		"a number again": {func(k *keeper, a, b *audittest.Author) {
			title := a.Generate()
			k.closes(k.opens(a, title))
			k.number--
			k.closes(k.opens(a, title))
		}, []audit.Kind{audit.TwoSessions}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := audittest.New("ann", "bob")
			w.Step = time.Second
			k := &keeper{World: w}
			k.write(&gate.BeginRecord{})
			c.tell(k, w.List[0], w.List[1])
			k.write(&gate.ClosedRecord{Reason: gate.ByRestart})
			for _, m := range w.List {
				m.Wait(1)
			}
			r := k.report()
			assert.ElementsMatch(t, c.want, kinds(r), "%v", r.Findings)
			require.Len(t, r.Gates, 1)
			g := r.Gates[0]
			assert.Equal(t, audittest.Resource, g.Resource)
			assert.Equal(t, c.sessions, g.Sessions)
			assert.Equal(t, c.prevented, g.Prevented)
			assert.Equal(t, c.prevented > 0, g.PreventedFor > 0)
		})
	}
}
