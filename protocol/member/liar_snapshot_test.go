package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/wire"
)

// Members that lie about how much they know.

// TestSnapshot_NotAskedFor_NotRead: not one entry.
func TestSnapshot_NotAskedFor_NotRead(t *testing.T) {
	s := newStage(t)
	before := s.picture()
	page := s.page(0)
	for n := range 1000 {
		page.More = n < 999
		s.hear(s.evil, page)
	}
	assert.Equal(t, before, s.picture())
	assert.EqualValues(t, 1000, s.Status().Rejected["not asked for"])
}

// page is a page of forged members.
func (s *stage) page(from byte) *wire.Members {
	page := &wire.Members{More: true}
	forged := bent(s.victim.certificate.Raw())
	for range wire.MaxPage {
		page.Entries = append(page.Entries, wire.Entry{Certificate: forged})
	}
	page.Through[0] = from
	return page
}

// liarsWork answers every question that the honest member asks of the liar after
// one comparison, and returns how many those were.
func (s *stage) liarsWork(answer func(*wire.Want) wire.Message) (questions int) {
	s.hear(s.evil, &wire.Gossip{Configuration: 1, Members: 1 << 20, Fingerprint: wire.Fingerprint{1}, Answer: true})
	for want := said[*wire.Want](s.box); want != nil && questions < enough; want = said[*wire.Want](s.box) {
		questions++
		s.hear(s.evil, answer(want))
	}
	return questions
}

// enough is more questions than any liar is asked; a truthful directory of a
// million members takes many times as many.
const enough = 5000

// TestSnapshot_Liar_BoundedWork: whatever a liar answers, it is not
// asked on and on, at once or all the time.
func TestSnapshot_Liar_BoundedWork(t *testing.T) {
	const atOnce, aSecond = 500, 20
	page := func(want *wire.Want, entries ...wire.Entry) wire.Message {
		return &wire.Members{Entries: entries, Through: want.From, More: true}
	}
	for name, lie := range map[string]struct {
		members uint64 // in each part of a summary
		page    func(s *stage, want *wire.Want) wire.Message
		noted   string // against the liar
	}{
		"forged entries": {1, func(s *stage, _ *wire.Want) wire.Message { return s.page(1) }, "forged directory entry"},
		"the same true entry on every page": {1, func(s *stage, want *wire.Want) wire.Message {
			return page(want, wire.Entry{Certificate: s.victim.certificate.Raw()})
		}, "directory without end"},
		"a newer record of its own on every page": {1, func(s *stage, want *wire.Want) wire.Message {
			s.count++
			return page(want, wire.Entry{Certificate: s.evil.certificate.Raw(), Endpoint: s.evil.endpoint(known + s.count)})
		}, "directory without end"},
		"empty pages":            {1, func(_ *stage, want *wire.Want) wire.Message { return page(want) }, ""},
		"summaries of summaries": {1 << 14, func(_ *stage, want *wire.Want) wire.Message { return page(want) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			answer := func(want *wire.Want) wire.Message {
				if want.Topic == wire.WantSummary {
					return summaryOf(want, lie.members)
				}
				return lie.page(s, want)
			}
			asked, seconds := 0, 10
			for range 10 {
				asked += s.liarsWork(answer)
			}
			assert.Positive(t, asked)
			assert.LessOrEqual(t, asked, atOnce)
			for range seconds {
				s.after(time.Second)
				asked += s.liarsWork(answer)
			}
			assert.LessOrEqual(t, asked, atOnce+seconds*aSecond)
			assert.Equal(t, lie.noted, s.against(s.evil).Last) // what ends by itself is not noted
			assert.Len(t, s.IDs(), 9)
		})
	}
}

// summaryOf is a liar's summary of a range: as many parts as there can be, with so
// many members each.
func summaryOf(want *wire.Want, members uint64) *wire.Summary {
	summary := &wire.Summary{From: want.From}
	for through := want.From; len(summary.Parts) < wire.MaxParts-1 && through.Compare(want.Through) < 0; through = through.Next() {
		summary.Parts = append(summary.Parts, wire.Part{Through: through, Members: members, Fingerprint: wire.Fingerprint{byte(len(summary.Parts))}})
	}
	summary.Parts = append(summary.Parts, wire.Part{Through: want.Through, Members: members, Fingerprint: wire.Fingerprint{99}})
	return summary
}
