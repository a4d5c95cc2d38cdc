package page

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// scene is a recorded member: what its page shows does not move.
type scene struct {
	mu      sync.Mutex // of what changes while the page is served
	st      api.Status
	members []api.MemberInfo
	log     *history.Log
	now     clock.Instant
	samples int
	events  []occurrence // that have not been noted yet
}

// occurrence is something that is to be noted in a history.
type occurrence struct {
	at   clock.Instant
	note func()
}

func (s *scene) at(ago float64, note func()) {
	s.events = append(s.events, occurrence{s.ago(ago), note})
}

func (s *scene) Status() (st api.Status) {
	s.change(func() { s.samples, st = s.samples+1, s.st })
	return st
}

func (s *scene) Members() (list []api.MemberInfo) {
	s.change(func() { list = slices.Clone(s.members) })
	return list
}

func (s *scene) History() *history.Log { return s.log }

func (s *scene) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *scene) time() (now clock.Instant) {
	s.change(func() { now = s.now })
	return now
}

// page is the page of a scene, at the scene's time.
func (s *scene) page() *Page {
	p := New(s)
	p.feed.now = s.time
	return p
}

// noon is the wall clock of scenes.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func idOf(i int) (id ident.Member) {
	copy(id[:], fmt.Sprintf("member-%03d", i))
	return id
}

func nameOf(i int) string { return fmt.Sprintf("ftp-%02d", i) }

func seconds(v float64) *float64 { return &v }

// newScene is a group of n members, seen by the first of them, in which nothing has happened yet.
func newScene(n int) *scene {
	s := &scene{log: history.New(idOf(0)), now: clock.Instant(3 * time.Hour)}
	s.st = api.Status{
		Member: idOf(0), Name: nameOf(0), GroupName: "nightly", ConfigurationVersion: 4, Mode: "durable", UptimeS: 86400 * 3,
		Address: "192.0.2.10:4133", Link: api.LinkStatus{LastHeardS: seconds(0.2), Others: n - 1, ClockAheadS: 0.03},
		Handoffs: api.HandoffCounts{OK: 1204, Retried: 3}, Tokens: api.TokenCounts{Generated: 1}, Rejected: map[string]uint64{},
		Journal: api.JournalStatus{Segments: 2, Bytes: 5_400_000}, CertificateExpires: noon.AddDate(0, 0, 61),
		Membership: api.MembershipStatus{RevocationVersion: 7, Patience: 1}, Warnings: []api.Warning{},
	}
	for i := range n {
		m := api.MemberInfo{
			Member: idOf(i), Name: nameOf(i), State: "valid", Self: i == 0, Connected: i > 0 && (n < 20 || i%5 == 0), Sequence: 1,
			Addresses: []string{fmt.Sprintf("192.0.2.%d:4133", 10+i%200)}, Expires: noon.AddDate(0, 0, 61+i%30),
		}
		if i%17 == 16 {
			m.Suspected, m.Connected = true, false
		}
		if i%23 == 22 {
			m.State, m.Connected = "failed", false
		}
		s.members = append(s.members, m)
	}
	return s
}

// ago is a time before the scene's.
func (s *scene) ago(v float64) clock.Instant {
	return s.now.Add(-time.Duration(v * float64(time.Second)))
}

// tokenOf is the nth token of a resource.
func tokenOf(resource string, n int) (t ident.Token) {
	copy(t[:], resource)
	binary.BigEndian.PutUint32(t[12:], uint32(n))
	return t
}

// walk lets a token go round from one time ago to another one, and programs run under it. Of other members' turns
// this one hears the share heard.
func (s *scene) walk(resource string, number int, from, to, runs, heard float64) (holder int, hop uint64) {
	r := rand.New(rand.NewPCG(uint64(number), uint64(len(resource))))
	at, place, t := from, history.Place{Resource: resource}, tokenOf(resource, number)
	hop = uint64(400 + 17*number)
	holder = number
	for at > to {
		hop++
		holder = (holder + 1 + r.IntN(max(1, len(s.members)/3))) % len(s.members)
		if s.members[holder].State != "valid" || s.members[holder].Suspected {
			holder = 0
		}
		how, by := api.Said, idOf(holder)
		took := runs * (0.4 + 1.2*r.Float64())
		switch {
		case holder == 0:
			how = api.Here
			w := history.Wait{Resource: resource, Asked: s.ago(at + 2 + 20*r.Float64()), Answered: s.ago(at), Outcome: "granted"}
			s.at(at, func() { s.log.Waited(w) })
		case r.Float64() > heard:
			at -= took + 0.3
			continue
		case r.IntN(3) == 0:
			how, by = api.Told, idOf((holder+3)%len(s.members))
		}
		seen := history.Sighting{Place: place, Token: t, Hop: hop, Holder: idOf(holder), How: how, By: by, At: s.ago(at)}
		begun := history.Operation{Place: place, Token: t, Hop: hop, Member: idOf(holder), How: how, By: by, Begun: s.ago(at - 0.1), EndsBy: s.ago(max(at-took-20, to-20))}
		s.at(at, func() { s.log.Saw(seen); s.log.Began(begun) })
		if at-took <= to {
			break
		}
		at -= took
		if ended := s.ago(at); holder == 0 {
			s.at(at, func() { s.log.Ended(place, t, ended) })
		} else {
			hop++
			passed := history.Sighting{Place: place, Token: t, Hop: hop, Holder: idOf((holder + 1) % len(s.members)), How: api.Told, By: by, At: ended}
			s.at(at, func() { s.log.Saw(passed) })
		}
		at -= 0.3
	}
	return holder, hop
}

// resource adds a resource whose token is with a member.
func (s *scene) resource(name string, waiting int, slot api.SlotStatus) {
	s.st.Resources = append(s.st.Resources, api.ResourceStatus{Name: name, Policy: "wandering", Preset: "fair", Waiting: waiting, Slots: []api.SlotStatus{slot}})
}

// told is a slot whose token is with another member, as that has said.
func (s *scene) told(holder int, hop uint64, age float64, before int, p50 float64) api.SlotStatus {
	return api.SlotStatus{
		LastSeenS: seconds(40), TokensSeen: 31, Operations: 30, ReturnS: 44,
		Holder: &api.HolderStatus{Member: idOf(holder), Name: nameOf(holder), Hop: hop, How: api.Said, By: idOf(holder), ByName: nameOf(holder), AgeS: age},
		Eta:    &api.EtaStatus{P50S: p50, P95S: p50 * 2.4, Basis: "order", Before: before},
	}
}

// done notes what has happened, in its order, and fills in the sentences.
func (s *scene) done() *scene {
	slices.SortStableFunc(s.events, func(a, b occurrence) int { return cmp.Compare(a.at, b.at) })
	for _, e := range s.events {
		e.note()
	}
	explain.Status(&s.st, noon)
	return s
}

// five is a group of five, in which a program of this member runs.
func five() *scene {
	s := newScene(5)
	s.walk("tape", 0, 1500, 9.5, 7, 1)
	t, place := tokenOf("tape", 0), history.Place{Resource: "tape"}
	s.at(9, func() {
		s.log.Saw(history.Sighting{Place: place, Token: t, Hop: 9000, Holder: idOf(0), How: api.Here, By: idOf(0), At: s.ago(9)})
		s.log.Began(history.Operation{Place: place, Token: t, Hop: 9000, Member: idOf(0), How: api.Here, By: idOf(0), Begun: s.ago(8.9)})
	})
	s.resource("tape", 1, api.SlotStatus{Held: true, Executing: true, Hop: 9000, LastSeenS: seconds(9), Holder: &api.HolderStatus{
		Member: idOf(0), Name: nameOf(0), Hop: 9000, How: api.Here, ProgramS: seconds(8.9), ProgramEndsS: seconds(11.1),
	}})
	holder, hop := s.walk("mirror", 3, 1500, 2, 11, 1)
	s.resource("mirror", 0, s.told(holder, hop, 1.4, 1, 9))
	return s.done()
}

// sixty is a group of sixty with two tokens for a while, and an overlap.
func sixty() *scene {
	s := newScene(60)
	holder, hop := s.walk("tape", 0, 1800, 2, 4, 0.3)
	s.walk("tape", 1, 120, 64, 5, 0.8)
	s.resource("tape", 2, s.told(holder, hop, 2.1, 17, 74))
	s.st.Warnings = []api.Warning{{Cause: explain.FaultyMember, Sentence: "member m17 sent 3 faulty objects, the last: a signature that does not verify"}, {Cause: explain.CertificateEnds, Sentence: "the certificate expires in 6d; the last attempt to renew it failed: the CA does not answer"}}
	return s.done()
}

// alone is a member that is cut off.
func alone() *scene {
	s := newScene(5)
	holder, hop := s.walk("tape", 0, 900, 160, 7, 1)
	for i := range s.members {
		s.members[i].Connected, s.members[i].Suspected = false, i > 0
	}
	s.st.Link = api.LinkStatus{LastHeardS: seconds(152), Isolated: true, Silent: true, Unanswered: 31, Others: 4}
	slot := s.told(holder, hop, 160, 0, 0)
	slot.LastSeenS = seconds(176)
	slot.Eta, slot.Search = nil, &api.SearchStatus{Stage: "asking"}
	s.resource("tape", 3, slot)
	return s.done()
}

// resting is a member of an idle group: its token has been here for long.
func resting() *scene {
	s := newScene(5)
	s.at(1500, func() {
		s.log.Saw(history.Sighting{Place: history.Place{Resource: "tape"}, Token: tokenOf("tape", 0), Hop: 7, Holder: idOf(0), How: api.Here, By: idOf(0), At: s.ago(1500)})
	})
	s.resource("tape", 0, api.SlotStatus{Held: true, LastSeenS: seconds(1500), Holder: &api.HolderStatus{Member: idOf(0), Name: nameOf(0), Hop: 7, How: api.Here}})
	return s.done()
}

// many is a group of three hundred.
func many() *scene {
	s := newScene(300)
	holder, hop := s.walk("tape", 0, 3000, 2, 1, 0.2)
	s.resource("tape", 1, s.told(holder, hop, 0.4, 120, 200))
	return s.done()
}

// hostile is a member all of whose texts are markup.
func hostile() *scene {
	const markup = `<img src=x onerror="document.title='owned'"><b>bold</b>&amp;`
	s := five()
	s.st.Name, s.st.GroupName, s.st.Warnings = markup, markup, []api.Warning{{Cause: explain.Late, Sentence: markup}}
	s.st.Sentence, s.st.Cause = markup, "isolated"
	for i := range s.members {
		s.members[i].Name, s.members[i].Addresses = markup, []string{markup}
	}
	for i := range s.st.Resources {
		r := &s.st.Resources[i]
		r.Sentence = markup
		r.Slots[0].Gate = &api.GateStatus{Reachable: true, Said: markup}
		r.Slots[0].Holder.Name, r.Slots[0].Holder.ByName = markup, markup
	}
	return s
}
