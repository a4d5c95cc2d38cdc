package demo

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
)

// forger writes journals of members that did what a test says.
type forger struct {
	t       *testing.T
	group   ident.Group
	keys    [3]*signature.PrivateKey
	ids     [3]ident.Member
	entries [3][]journal.Stamped
	at      uint64 // µs since 1970 of the next record
	genesis token.Genesis
}

func newForger(t *testing.T) *forger {
	f := &forger{t: t, group: ident.Group{1}, at: uint64(time.Unix(1_700_000_000, 0).UnixMicro())}
	for i := range f.keys {
		seed := sha256.Sum256([]byte{byte(i)})
		var err error
		f.keys[i], err = signature.NewPrivateKey(seed[:])
		require.NoError(t, err)
		key := f.keys[i].Public().Bytes()
		f.ids[i] = ident.MemberOf(f.group, key[:])
		f.begin(i, true)
	}
	var err error
	f.genesis, err = token.GenesisBody{Resource: resource, Generator: f.ids[0], Sequence: 1}.Sign(f.group, f.keys[0])
	require.NoError(t, err)
	return f
}

const step = 1000 // µs between two records

// writes adds a record to a member's journal, a millisecond after the last one.
func (f *forger) writes(who int, r journal.Record) {
	f.at += step
	f.entries[who] = append(f.entries[who], journal.Stamped{At: f.at, Record: r})
}

// begin begins a custody memory of a member.
func (f *forger) begin(who int, durable bool) {
	f.writes(who, &journal.Incarnation{
		Incarnation: f.incarnation(who), Member: f.ids[who], Durable: durable, Machine: "here",
	})
}

// incarnation is a new one each time.
func (f *forger) incarnation(who int) ident.Incarnation {
	return ident.Incarnation{byte(who), byte(len(f.entries[who]))}
}

// transfer gives custody from one member to another.
func (f *forger) transfer(title token.Title, to int, field string) (token.Transfer, token.Title) {
	body := title.Next(f.ids[to], ident.Reservation{Incarnation: ident.Incarnation{byte(to), 0}, Number: title.Hop() + 1})
	body.Field = []byte(field)
	signed, err := body.Sign(f.group, f.keys[slices.Index(f.ids[:], title.Holder())])
	require.NoError(f.t, err)
	return signed, token.Title{Genesis: f.genesis, Transfer: signed}
}

func (f *forger) made() token.Title {
	f.writes(0, &journal.Generated{Genesis: f.genesis.Raw()})
	return token.Title{Genesis: f.genesis}
}

func (f *forger) sent(who int, t token.Transfer) { f.writes(who, &journal.Sent{Transfer: t.Raw()}) }

func (f *forger) held(who int, t token.Transfer) {
	f.writes(who, &journal.Held{Transfer: t.Raw(), Genesis: f.genesis.Raw()})
}

func (f *forger) closed(who int, hop uint64) {
	f.writes(who, &journal.Closed{Token: f.genesis.ID(), Hop: hop, Receipt: []byte("receipt")})
}

func (f *forger) operates(who int, id byte, hop uint64, during func()) {
	f.writes(who, &journal.Started{Grant: ident.Grant{id}, Token: f.genesis.ID(), Hop: hop, Resource: resource})
	during()
	f.writes(who, &journal.Ended{Grant: ident.Grant{id}, Operated: true})
}

// members writes the journals to disk.
func (f *forger) members() []*process {
	var list []*process
	for i, entries := range f.entries {
		p := &process{name: string(rune('a' + i)), dir: f.t.TempDir()}
		st, _, err := store.Open(p.journal(), store.Options{Group: f.group, Member: f.ids[i]})
		require.NoError(f.t, err)
		for _, e := range entries {
			body, err := journal.Encode(e.At, e.Record)
			require.NoError(f.t, err)
			_, err = st.Append(body)
			require.NoError(f.t, err)
		}
		require.NoError(f.t, st.Close())
		list = append(list, p)
	}
	return list
}

func (p *process) journal() string { return filepath.Join(p.stateDir(), "journal") }

// walk is a token that goes from the first member to the second and the third.
func (f *forger) walk() token.Title {
	title := f.made()
	for to := 1; to <= 2; to++ {
		var t token.Transfer
		hop := title.Hop()
		t, title = f.transfer(title, to, "")
		f.sent(to-1, t)
		f.held(to, t)
		f.closed(to-1, hop)
	}
	return title
}

func TestTally(t *testing.T) {
	for _, c := range []struct {
		name                                string
		happens                             func(*forger)
		hops, duplicates, lost, dropped, ok int
	}{
		{name: "a walk", happens: func(f *forger) { f.walk() }, hops: 2, ok: 2},
		{name: "a token that is dropped", hops: 2, ok: 2, dropped: 1, happens: func(f *forger) {
			f.walk()
			f.writes(2, &journal.Dropped{Token: f.genesis.ID(), Hop: 2, Reason: 1})
		}},
		{name: "a transfer in progress", happens: func(f *forger) {
			t, _ := f.transfer(f.made(), 1, "")
			f.sent(0, t)
		}},
		{name: "a token whose volatile holder has crashed", hops: 2, ok: 2, lost: 1, happens: func(f *forger) {
			f.begin(2, false)
			f.walk()
			f.begin(2, false)
		}},
		{name: "a token that is held and was never given away", duplicates: 1, happens: func(f *forger) {
			t, _ := f.transfer(f.made(), 1, "")
			f.held(1, t)
		}},
		{name: "a hop that was given to two, and sent to one", hops: 1, duplicates: 2, happens: func(f *forger) {
			title := f.made()
			one, _ := f.transfer(title, 1, "one")
			two, _ := f.transfer(title, 2, "two")
			f.sent(0, one)
			f.held(1, one)
			f.held(2, two)
		}},
		{name: "a transfer that was used twice", hops: 2, duplicates: 2, happens: func(f *forger) {
			t, _ := f.transfer(f.made(), 1, "")
			f.sent(0, t)
			f.held(1, t)
			f.held(1, t)
		}},
		{name: "a receipt for what nobody holds", lost: 1, ok: 1, happens: func(f *forger) {
			t, _ := f.transfer(f.made(), 1, "")
			f.sent(0, t)
			f.closed(0, 0)
		}},
		{name: "a sender that gives up", lost: 1, happens: func(f *forger) {
			t, _ := f.transfer(f.made(), 1, "")
			f.sent(0, t)
			f.writes(0, &journal.Closed{Token: f.genesis.ID(), Hop: 0})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newForger(t)
			c.happens(f)
			s, err := tally(Options{Members: 3}, f.members())
			require.NoError(t, err)
			assert.Equal(t, 1, s.V)
			assert.Equal(t, 3, s.Members)
			assert.Equal(t, c.hops, s.Hops, "hops")
			assert.EqualValues(t, c.ok, s.Handoffs.OK, "answered handoffs")
			assert.Equal(t, c.duplicates, s.Duplicates, "duplicates: %v", s.Findings)
			assert.Equal(t, Tokens{Generated: 1, Lost: c.lost, Dropped: c.dropped}, s.Tokens, "%v", s.Findings)
		})
	}
}

// TestTallyTimes: the times of handoffs, of operations, and of their overlap.
func TestTallyTimes(t *testing.T) {
	f := newForger(t)
	first, _ := f.transfer(f.made(), 1, "")
	f.operates(0, 1, 0, func() {})
	f.sent(0, first)
	f.at += 9 * step
	f.held(1, first) // 10 ms after it was sent
	f.closed(0, 0)
	f.operates(1, 2, 1, func() {
		f.operates(0, 3, 0, func() { f.at += 7 * step }) // without any right, for 8 ms
	})
	s, err := tally(Options{Members: 3}, f.members())
	require.NoError(t, err)
	assert.Equal(t, &Quantiles{P50: 0.010, P99: 0.010}, s.HandoffSeconds)
	assert.Equal(t, 3, s.Operations)
	assert.Equal(t, 2, s.MaxConcurrent)
	assert.InDelta(t, 0.008, s.OverlapSeconds, 1e-9)
	require.NotNil(t, s.ReturnSeconds)
	assert.Positive(t, s.ReturnSeconds.P50, "between the two operations of the first member")
	assert.NotEmpty(t, s.Findings, "an operation without custody")
}

// TestTally_NoRecords_Zero: times that nobody measured are null, and not 0.
func TestTally_NoRecords_Zero(t *testing.T) {
	f := newForger(t)
	f.made()
	s, err := tally(Options{Members: 3}, f.members())
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"handoff_seconds":null,"return_seconds":null`)
}

// TestTally_NoJournal_Error: a run may end before a member has begun its own.
func TestTally_NoJournal_Error(t *testing.T) {
	f := newForger(t)
	f.walk()
	members := append(f.members(), &process{name: "late", dir: t.TempDir()})
	s, err := tally(Options{Members: 4}, members)
	require.NoError(t, err)
	assert.Equal(t, 2, s.Hops)
	assert.Empty(t, s.Findings)
}

// TestTally_BrokenFiles_Error: a torn tail is what a kill leaves; damage is an error.
func TestTally_BrokenFiles_Error(t *testing.T) {
	f := newForger(t)
	f.walk()
	members := f.members()
	segment := filepath.Join(members[2].journal(), journal.SegmentName(1))
	whole, err := os.ReadFile(segment)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(segment, whole[:len(whole)-3], 0o600))
	s, err := tally(Options{Members: 3}, members)
	require.NoError(t, err)
	assert.Equal(t, 1, s.Hops, "the second was cut off")

	whole[len(whole)/2] ^= 1
	require.NoError(t, os.WriteFile(segment, whole, 0o600))
	_, err = tally(Options{Members: 3}, members)
	require.ErrorIs(t, err, journal.ErrDamaged)
}

// TestParams_EveryPolicy_Valid: the constants fit every policy and preset there is.
func TestParams_EveryPolicy_Valid(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			for _, volatile := range []bool{false, true} {
				o := Options{
					Policy: name, Preset: preset.Name, Volatile: volatile, Members: MaxMembers, For: time.Second, OperationTime: 10 * time.Second,
				}
				assert.NoError(t, o.validate())
				o.Members, o.OperationTime = MinMembers, minOperation
				assert.NoError(t, o.validate())
			}
		}
	}
}

func TestOptionsValidate(t *testing.T) {
	good := Options{Policy: "wandering", Members: 8, For: time.Second, OperationTime: time.Second, Loss: 0.1, Delay: time.Second, Crash: time.Second}
	require.NoError(t, good.validate())
	for name, break_ := range map[string]func(*Options){
		"one member":      func(o *Options) { o.Members = 1 },
		"too many":        func(o *Options) { o.Members = MaxMembers + 1 },
		"no time":         func(o *Options) { o.For = 0 },
		"no operation":    func(o *Options) { o.OperationTime = 0 },
		"negative loss":   func(o *Options) { o.Loss = -0.1 },
		"total loss":      func(o *Options) { o.Loss = 1 },
		"negative delay":  func(o *Options) { o.Delay = -1 },
		"an endless path": func(o *Options) { o.Delay = MaxDelay + 1 },
		"endless crashes": func(o *Options) { o.Crash = time.Millisecond },
		"another policy":  func(o *Options) { o.Policy = "wondering" },
		"another preset":  func(o *Options) { o.Preset = "wondering" },
	} {
		o := good
		break_(&o)
		assert.ErrorIs(t, o.validate(), ErrOptions, name)
	}
}

// TestRecovery: only who held a token counts, and until the next operation began.
func TestRecovery(t *testing.T) {
	f := newForger(t)
	f.begin(1, false)
	title := f.made()
	tr, next := f.transfer(title, 1, "")
	f.sent(0, tr)
	f.held(1, tr)
	kills := [][]uint64{{f.at}, {f.at}, nil} // the first has sent its token on
	f.begin(1, false)                        // which is lost
	f.at += 2e6
	kills[1] = append(kills[1], f.at)
	f.operates(2, 1, next.Hop(), func() {})
	back, _ := f.transfer(next, 2, "")
	f.held(2, back)
	kills[2] = []uint64{f.at}
	members := f.members()
	for i, p := range members {
		p.kills = kills[i]
	}
	s, err := tally(Options{Members: 3}, members)
	require.NoError(t, err)
	assert.Equal(t, 4, s.Crashes)
	require.NotNil(t, s.Recovery)
	assert.Equal(t, 2, s.Recovery.Kills)
	assert.Equal(t, 1, s.Recovery.Unanswered)
	assert.InDelta(t, 2.002, s.Recovery.P50, 0.001)
	assert.Equal(t, s.Recovery.P50, s.Recovery.Max)
}

// TestTally_KilledDuringOperation_Counted: an operation is not as long as its member was away.
func TestTally_KilledDuringOperation_Counted(t *testing.T) {
	f := newForger(t)
	f.made()
	f.operates(0, 1, 0, func() { f.at += 20e6 })
	f.operates(1, 2, 0, func() { f.at += 1e6 })
	f.at -= 15e6
	f.operates(2, 3, 0, func() { f.at += 1e6 })
	members := f.members()
	members[0].kills = []uint64{f.entries[0][2].At + 1}
	s, err := tally(Options{Members: 3, OperationTime: 200 * time.Millisecond}, members)
	require.NoError(t, err)
	assert.Zero(t, s.OverlapSeconds)
	assert.Equal(t, 3, s.Operations)
}
