package audit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
)

// keeper writes a gate's journal beside those of its members.
type keeper struct {
	*audittest.World
	gate   *audittest.Gate
	number uint64
	frames []journal.Frame

	checkpoint int // the frame of the checkpoint behind a gap; 0: there is no gap
}

func newKeeper() *keeper {
	w := audittest.New("ann", "bob")
	w.Step = time.Second
	return &keeper{World: w, gate: w.Gate()}
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
	return k.opensAt(0, m, title)
}

// opensAt does so at a place.
func (k *keeper) opensAt(place uint64, m *audittest.Author, title token.Title) uint64 {
	k.number++
	k.write(&gate.OpeningRecord{
		Session: k.number, Slot: place, Member: m.ID, Token: title.Token(), Hop: title.Hop(), Title: title.Hash(), Generator: title.Genesis.Body().Generator,
	})
	return k.number
}

func (k *keeper) closes(session uint64) { k.closesAt(0, session) }

func (k *keeper) closesAt(place, session uint64) {
	k.write(&gate.ClosedRecord{Session: session, Slot: place, Reason: gate.BySignOut})
}

// configures has a member learn a configuration with this gate, and so many slots and sessions at each.
func (k *keeper) configures(m *audittest.Author, version uint64, slots, sessions int) {
	s := k.Group.Config().Settings()
	r := s.Resources[0]
	r.Policy, r.Slots = catalog.Multitoken, slots
	r.Gate = group.Gate{Member: k.gate.ID, Address: "gate.example.org:4136", Sessions: sessions}
	s.Version, s.Resources = version, []group.Resource{r}
	c, err := s.WithDefaults().Sign(k.Group.ID(), k.CA)
	if err != nil {
		panic(err)
	}
	m.Write(&journal.Known{What: journal.KnownConfiguration, Object: c.Raw()})
}

// lets is a session in which a member's program runs.
func (k *keeper) lets(m *audittest.Author, title token.Title) {
	session := k.opens(m, title)
	m.Operate(title, byte(session), 1)
	k.closes(session)
}

// gap leaves out what the gate has written since, up to a checkpoint with these records.
func (k *keeper) gap(floor uint64, records ...gate.Record) {
	k.checkpoint = len(k.frames)
	k.write(&gate.BeginRecord{Floor: floor, Checkpoint: true})
	for _, r := range records {
		k.write(r)
	}
	for i := range k.frames[k.checkpoint:] {
		k.frames[k.checkpoint+i].FromCheckpoint = true
	}
	k.frames = append(k.frames, journal.Frame{Type: journal.FrameCheckpointEnd, Seq: uint64(len(k.frames) + 1)})
}

// continues is what a checkpoint says of a place whose last session was one of a member.
func (k *keeper) continues(place, session uint64, m *audittest.Author, title token.Title) []gate.Record {
	return []gate.Record{
		&gate.ClosedRecord{Slot: place, Reason: gate.ByRestart},
		&gate.ContinuedRecord{Session: session, Slot: place, Member: m.ID, Token: title.Token(), Hop: title.Hop(), Title: title.Hash()},
	}
}

// idles is the same of a place whose last session has ended.
func (k *keeper) idles(place, session uint64, m *audittest.Author, title token.Title) []gate.Record {
	return append(k.continues(place, session, m, title), &gate.ClosedRecord{Session: session, Slot: place, Reason: gate.ByRestart})
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
	if len(k.frames) > 0 {
		to := a.Gate(k.gate.ID, audittest.Resource)
		to.Segment(true)
		for i, f := range k.frames {
			if i > 0 && i == k.checkpoint {
				to.Segment(false)
			}
			to.Frame(f)
		}
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
			k := newKeeper()
			k.write(&gate.BeginRecord{})
			c.tell(k, k.List[0], k.List[1])
			k.write(&gate.ClosedRecord{Reason: gate.ByRestart})
			for _, m := range k.List {
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

// tells has a member write down what the gate signs about a sign-in.
func (k *keeper) tells(m *audittest.Author, title token.Title, connection byte, a gate.Answer) {
	m.Write(&journal.Told{Answer: k.gate.Says(m, title, connection, 1, a)})
}

// tellsAt does so where the title is of a slot.
func (k *keeper) tellsAt(slot uint64, m *audittest.Author, title token.Title, connection byte, a gate.Answer) {
	m.Write(&journal.Told{Answer: k.gate.SaysAt(slot, m, title, connection, 1, a)})
}

func opening(session uint64, title token.Title) gate.OpenAnswer {
	return gate.OpenAnswer{Session: session, Token: title.Token(), Hop: title.Hop()}
}

func closing(session uint64) gate.ClosedAnswer {
	return gate.ClosedAnswer{Session: session, Reason: gate.BySignOut, Confirmed: true}
}

func busy(session uint64, m *audittest.Author, title token.Title) gate.BusyAnswer {
	return gate.BusyAnswer{Session: session, Holder: m.ID, Token: title.Token(), Hop: title.Hop()}
}

// TestGate_WhatItSigned_Compared: what a gate signed beside what else it signed, without its journal. What its key alone shows is proof.
func TestGate_WhatItSigned_Compared(t *testing.T) {
	for name, c := range map[string]struct {
		tell   func(k *keeper, a, b *audittest.Author, one, other token.Title)
		want   []audit.Kind
		proved bool
	}{
		"honest": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, busy(0, a, token.Title{Genesis: one.Genesis}))
			k.tells(a, one, 1, opening(7, one))
			k.tells(b, other, 2, busy(7, a, one))
			k.tells(a, one, 1, closing(7))
			k.tells(b, other, 2, opening(8, other))
			k.tells(b, other, 2, closing(8))
			k.tells(a, one, 3, gate.RefuseAnswer{Code: gate.Used})
		}, nil, false},
		"said again": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(a, one, 1, opening(7, one))
		}, nil, false},
		"one number for two": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(b, other, 2, opening(7, other))
		}, []audit.Kind{audit.NumberTwice}, true},
		"the end of another": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(b, other, 2, closing(7))
		}, []audit.Kind{audit.NumberTwice}, true},
		"busy with somebody else": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(b, other, 2, busy(7, b, one))
		}, []audit.Kind{audit.NumberTwice}, true},
		"busy with another token": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(b, other, 2, busy(7, a, other))
			k.tells(a, one, 1, opening(7, one))
		}, []audit.Kind{audit.NumberTwice}, true},
		"one sign-in for two": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(a, one, 1, opening(8, one))
		}, []audit.Kind{audit.TwoAnswers}, true},
		"opened and refused": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, gate.RefuseAnswer{Code: gate.Stale})
			k.tells(a, one, 1, opening(7, one))
		}, []audit.Kind{audit.TwoAnswers}, true},
		"sessions cross": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(7, one))
			k.tells(b, other, 2, opening(8, other))
			k.tells(a, one, 1, closing(7))
		}, []audit.Kind{audit.TimesCross}, false},
		"a fence that falls": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(8, one))
			k.tells(a, one, 1, closing(8))
			k.tells(b, other, 2, opening(7, other))
		}, []audit.Kind{audit.TimesCross}, false},
		"an answer to somebody else": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			b.Write(&journal.Told{Answer: k.gate.Says(a, one, 1, 1, opening(7, one))})
		}, []audit.Kind{audit.Misfit}, false},
		"forged": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			raw := k.gate.Says(a, one, 1, 1, opening(7, one))
			raw[len(raw)-1] ^= 1
			a.Write(&journal.Told{Answer: raw})
		}, []audit.Kind{audit.Forged}, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper()
			a, b := k.List[0], k.List[1]
			a.Write(&journal.Known{What: journal.KnownGate, Object: k.gate.Certificate.Raw()})
			c.tell(k, a, b, a.Generate(), b.Generate())
			r := k.report()
			require.Equal(t, c.want, kinds(r), "%v", r.Findings)
			assert.Empty(t, r.Unverified)
			for _, f := range r.Findings {
				assert.Equal(t, c.proved, f.Proved())
				if c.proved {
					assert.Equal(t, k.gate.ID, f.Accused)
					e, err := k.Convict(f)
					require.NoError(t, err)
					assert.Equal(t, k.gate.ID, e.Accused)
					assert.Equal(t, string(f.Kind), e.Kind.String())
					for _, e := range f.Exhibits {
						m := k.List[e.Journal]
						raw, err := audit.Extract(m.Frames[e.Seq-1].Body, e)
						require.NoError(t, err)
						assert.NotEmpty(t, raw)
					}
				}
			}
		})
	}
}

// TestGate_Windows_SessionsOutsideNamed: by its own clock a gate opens a session while the windows are closed, or says that one lasts beyond their end. One that is
// signed after its end shows nothing.
func TestGate_Windows_SessionsOutsideNamed(t *testing.T) {
	within := func(k *keeper, d time.Duration) uint64 { return uint64(k.Now.Add(d).UnixMilli()) }
	for name, c := range map[string]struct {
		open   time.Duration // from the beginning on
		happen func(k *keeper, a *audittest.Author, title token.Title, end time.Time)
		want   []audit.Kind
	}{
		"within": {time.Hour, func(k *keeper, a *audittest.Author, title token.Title, end time.Time) {
			open := opening(1, title)
			open.Until = uint64(end.UnixMilli())
			k.opens(a, title)
			k.tells(a, title, 1, open)
			k.closes(1)
		}, nil},
		"beyond the end": {time.Hour, func(k *keeper, a *audittest.Author, title token.Title, end time.Time) {
			open := opening(1, title)
			open.Until = uint64(end.UnixMilli()) + 1
			k.opens(a, title)
			k.tells(a, title, 1, open)
			k.closes(1)
		}, []audit.Kind{audit.ShutGate}},
		"signed outside": {0, func(k *keeper, a *audittest.Author, title token.Title, _ time.Time) {
			open := opening(1, title)
			open.Until = within(k, time.Minute)
			k.tells(a, title, 1, open)
		}, []audit.Kind{audit.ShutGate}},
		"signed late": {0, func(k *keeper, a *audittest.Author, title token.Title, _ time.Time) {
			open := opening(1, title)
			open.Until = within(k, 0)
			k.tells(a, title, 1, open)
		}, nil},
		"written outside": {0, func(k *keeper, a *audittest.Author, title token.Title, _ time.Time) {
			k.opens(a, title)
			k.closes(1)
		}, []audit.Kind{audit.ShutGate}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper()
			a := k.List[0]
			a.Write(&journal.Known{What: journal.KnownGate, Object: k.gate.Certificate.Raw()})
			end := windows(k.World, a, c.open)
			c.happen(k, a, a.Generate(), end)
			r := k.report()
			require.Equal(t, c.want, kinds(r), "%v", r.Findings)
			for _, f := range r.Findings {
				assert.Equal(t, []ident.Member{k.gate.ID}, f.Members)
				assert.False(t, f.Proved())
			}
		})
	}
}

// TestGate_NotCertified_Unverified: what nobody knows the key of is no word of a gate.
func TestGate_NotCertified_Unverified(t *testing.T) {
	k := newKeeper()
	a := k.List[0]
	title := a.Generate()
	k.tells(a, title, 1, opening(7, title))
	k.tells(a, title, 1, opening(8, title))
	r := k.report()
	assert.Empty(t, r.Findings)
	assert.Len(t, r.Unverified, 1)
}

// TestGate_ItsJournal_ComparedWithItsWords: an answer that the gate's journal does not have, or has otherwise, is suspicious.
func TestGate_ItsJournal_ComparedWithItsWords(t *testing.T) {
	for name, c := range map[string]struct {
		tell exchange
		want []audit.Kind
	}{
		"honest": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			session := k.opens(a, one)
			k.tells(a, one, 1, opening(session, one))
			k.tells(b, other, 2, busy(session, a, one))
			k.closes(session)
			k.tells(a, one, 1, closing(session))
		}, nil},
		"never written": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(gate.MaxAhead+1, one))
		}, []audit.Kind{audit.Unwritten}},
		"lost in a crash": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.closes(k.opens(a, one))
			k.tells(a, one, 1, opening(2, one))
			k.tells(b, other, 2, busy(2, a, one))
			a.Operate(one, 9, 1)
			k.number += gate.MaxAhead
			k.closes(k.opens(b, other))
		}, nil},
		"lost in a crash of late": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(1, one))
			a.Operate(one, 9, 1)
		}, nil},
		"left out in a crash": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.closes(k.opens(a, one))
			k.tells(a, one, 1, opening(2+gate.MaxAhead, one))
			k.number += 2 * gate.MaxAhead
			k.closes(k.opens(b, other))
		}, []audit.Kind{audit.Unwritten}},
		"left out": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.closes(k.opens(a, one))
			k.number++
			k.tells(a, one, 1, opening(2, one))
			k.closes(k.opens(b, other))
		}, []audit.Kind{audit.Unwritten}},
		"busy with a session that never was": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.closes(k.opens(a, one))
			k.tells(b, other, 1, busy(2+gate.MaxAhead, a, one))
		}, []audit.Kind{audit.Unwritten}},
		"of another member": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			session := k.opens(a, one)
			k.tells(b, other, 1, opening(session, other))
			k.closes(session)
		}, []audit.Kind{audit.Unwritten}},
		"before the journal": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(1, one))
			k.number = 4
			k.closes(k.opens(b, other))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := judged(c.tell)
			assert.Equal(t, c.want, kinds(r), "%v", r.Findings)
			for _, f := range r.Findings {
				assert.False(t, f.Proved())
			}
		})
	}
}

// exchange is what a gate tells two members, each with a token, and writes.
type exchange func(k *keeper, a, b *audittest.Author, one, other token.Title)

// judged is the report on a gate after that.
func judged(tell exchange) *audit.Report {
	k := newKeeper()
	a, b := k.List[0], k.List[1]
	k.write(&gate.BeginRecord{})
	a.Write(&journal.Known{What: journal.KnownGate, Object: k.gate.Certificate.Raw()})
	tell(k, a, b, a.Generate(), b.Generate())
	k.write(&gate.ClosedRecord{Reason: gate.ByRestart})
	return k.report()
}

// TestGate_SeveralPlaces_Compared: an answer has the slot of its sign-in, and a record of the gate the place. A slot has several places at
// once, and a place may come to be of another slot with a change of the slots.
func TestGate_SeveralPlaces_Compared(t *testing.T) {
	for name, c := range map[string]struct {
		tell exchange
		want []audit.Kind
	}{
		"two places": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.configures(a, 2, 1, 2)
			first, second := k.opens(a, one), k.opensAt(1, b, other)
			k.tells(a, one, 1, opening(first, one))
			k.tells(b, other, 2, opening(second, other))
			k.closes(first)
			k.tells(a, one, 1, closing(first))
			k.closesAt(1, second)
			k.tells(b, other, 2, closing(second))
		}, nil},
		"more slots": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.configures(a, 2, 2, 2)
			session := k.opensAt(2, a, one) // of slot 0
			k.tells(a, one, 1, opening(session, one))
			k.configures(b, 3, 3, 2)
			k.tellsAt(2, b, other, 2, busy(session, a, one))
			k.closesAt(2, session)
			k.tells(a, one, 1, closing(session))
		}, nil},
		"one place": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.configures(a, 2, 2, 1)
			first, second := k.opens(a, one), k.opensAt(1, b, other)
			k.tells(a, one, 1, opening(first, one))
			k.tells(b, other, 2, opening(second, other))
			k.closes(first)
			k.tells(a, one, 1, closing(first))
			k.closesAt(1, second)
			k.tells(b, other, 2, closing(second))
		}, []audit.Kind{audit.TimesCross}},
	} {
		t.Run(name, func(t *testing.T) {
			r := judged(c.tell)
			assert.Equal(t, c.want, kinds(r), "%v", r.Findings)
		})
	}
}

// TestGate_GapInItsJournal_NotAccused: behind a gap a checkpoint has the last session of each place, also of one that is idle, and none of
// the others.
func TestGate_GapInItsJournal_NotAccused(t *testing.T) {
	for name, c := range map[string]struct {
		tell exchange
		want []audit.Kind
		open int
	}{
		"idle places": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(6, one)) // in the gap, before the last ones of the places
			k.tells(a, one, 1, closing(6))
			k.tells(b, other, 2, opening(8, other))
			k.tells(b, other, 2, closing(8))
			k.gap(9, append(k.idles(0, 5, a, one), k.idles(1, 9, b, other)...)...)
			k.number = 9
			k.closes(k.opens(a, one))
			k.closesAt(1, k.opensAt(1, b, other))
		}, nil, 0},
		"a place that is forgotten": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.tells(a, one, 1, opening(9, one))
			k.tells(a, one, 1, closing(9))
			k.gap(9, k.idles(0, 7, b, other)...)
			k.number = 9
			k.closes(k.opens(b, other))
		}, nil, 0},
		"open": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.gap(9, k.continues(0, 9, a, one)...)
			k.number = 9
			k.opens(b, other)
		}, []audit.Kind{audit.TwoSessions}, 2},
		"a number of the gap": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.gap(9, k.idles(0, 7, a, one)...)
			k.number = 7
			k.closes(k.opens(b, other))
		}, []audit.Kind{audit.TwoSessions}, 0},
		"left out behind the gap": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.gap(9, k.idles(0, 9, a, one)...)
			k.tells(a, one, 1, opening(10, one))
			k.number = 10
			k.closes(k.opens(b, other))
		}, []audit.Kind{audit.Unwritten}, 0},
		"of long ago": {func(k *keeper, a, b *audittest.Author, one, other token.Title) {
			k.gap(9, k.idles(0, 9, a, token.Title{Genesis: other.Genesis})...)
			a.Wait(2)
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper()
			a, b := k.List[0], k.List[1]
			k.configures(a, 2, 1, 2)
			a.Write(&journal.Known{What: journal.KnownGate, Object: k.gate.Certificate.Raw()})
			one, other := a.Generate(), b.Generate()
			k.write(&gate.BeginRecord{})
			c.tell(k, a, b, one, other)
			k.write(&gate.RevokedRecord{Members: []ident.Member{{7}}})
			a.Wait(1)
			b.Wait(1)
			r := k.report()
			assert.Equal(t, c.want, kinds(r), "%v", r.Findings)
			require.Len(t, r.Gates, 1)
			assert.Equal(t, c.open, r.Gates[0].Open)
		})
	}
}
