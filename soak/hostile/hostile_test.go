package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/liar/report"
)

func TestParse_Flags_Read(t *testing.T) {
	o, err := parse([]string{"-kinds", "minter,hoarder", "-presets", "ring", "-n", "5,20", "-for", "90s", "-operation", "200ms", "-first-keeper", "-kill"}, nil)
	require.NoError(t, err)
	assert.Equal(t, options{
		Kinds: []string{"minter", "hoarder"}, Presets: []string{"ring"}, Sizes: []int{5, 20}, For: 90 * time.Second,
		Operation: 200 * time.Millisecond, Hold: 4 * time.Second, Silence: 4 * time.Second, Allowance: time.Minute, Newcomers: 20, First: true, Kill: true,
	}, o)
}

func TestParse_Invalid_Refused(t *testing.T) {
	for _, args := range [][]string{
		{"extra"}, {"-kinds", "saint"}, {"-presets", "paper"}, {"-n", "1"}, {"-n", "21"}, {"-n", "3,x"}, {"-for", "1s"}, {"-for", "2h"},
		{"-operation", "1ms"}, {"-operation", "5s"}, {"-rate", "-1"}, {"-newcomers", "0"}, {"-newcomers", "101"},
	} {
		_, err := parse(args, nil)
		assert.Error(t, err, args)
	}
}

func TestKinds_Names_OfLiarsWithTwoWhereTwoAreNeeded(t *testing.T) {
	for _, k := range badKinds {
		assert.Equal(t, k.name, kindOf(k.name).name)
		assert.Equal(t, k.bad > 0, k.acts != "", k.name)
		if k.acts == "forger" || k.acts == "friends" {
			assert.Greater(t, k.bad, 1, k.name)
		}
	}
	assert.Contains(t, usualKinds(), "minter")
	assert.Contains(t, usualKinds(), "flood")
	assert.NotContains(t, usualKinds(), "flood-near")
}

func ran(member, token string, from, to time.Duration) judge.Run {
	return judge.Run{Resource: "x", Member: member, Token: token, Sure: judge.Span{From: clock.Instant(from), To: clock.Instant(to)}}
}

func TestMeasure_Programs_HonestOnesWithinTheTime(t *testing.T) {
	const s = time.Second
	runs := []judge.Run{
		ran("m1", "a", 0, 11*s), // begun before
		ran("m2", "a", 12*s, 14*s),
		ran("m1", "bad", 13*s, 16*s),
		ran("bad1", "a", 13*s, 60*s),
		ran("m2", "bad", 13*s+s/2, 15*s),
		ran("m1", "a", 80*s, 81*s),
		ran("m2", "a", 95*s, 110*s),
		ran("m1", "a", 100*s, 101*s), // too late
	}
	f := measure(runs, []string{"m1", "m2"}, map[string]bool{"bad": true}, clock.Instant(10*s), clock.Instant(100*s))
	assert.Equal(t, figures{
		first: 3.0 / 60, after: 2.0 / 30, overlap: 2 * s, atOnce: 3, idle: 64 * s, wait: 80 * s, lying: 2,
	}, f)
}

func TestMeasure_NoProgram_AllTimeIdle(t *testing.T) {
	f := measure(nil, []string{"m1"}, nil, 0, clock.Instant(time.Minute))
	assert.Equal(t, figures{idle: time.Minute, wait: time.Minute}, f)
}

func TestCrash_Programs_SinceTheKill(t *testing.T) {
	const s = time.Second
	runs := []judge.Run{
		ran("m2", "a", 10*s, 12*s), // was killed at 11 s
		ran("bad1", "a", 13*s, 20*s),
		ran("m1", "a", 15*s, 16*s),
		ran("m2", "a", 30*s, 31*s),
		ran("m2", "a", 40*s, 41*s),
		ran("m1", "a", 60*s, 61*s), // too late
	}
	c := crashOf(runs, []string{"m1", "m2"}, "m2", clock.Instant(11*s), clock.Instant(50*s))
	assert.Equal(t, crash{member: "m2", idle: 14 * s, back: 19 * s}, c)
	assert.Equal(t, "m2 was killed and ran again after 19.0 s, nobody ran since then for at most 14.0 s", row{crash: c}.besides())
	c = crashOf(nil, []string{"m1"}, "m1", 0, clock.Instant(20*s))
	assert.Equal(t, "m1 was killed and did not run again, nobody ran since then for at most 20.0 s", row{crash: c}.besides())
}

func TestVerdicts_Findings_CountedWithTheirNames(t *testing.T) {
	a, err := judge.ParseAudit([]byte(`{"v": 2, "findings": [
		{"class": "proof", "kind": "fork", "accused": "bad1", "members": ["m1", "bad1"], "again": 1},
		{"class": "suspicion", "kind": "struck by others", "members": ["bad3", "m1", "m2"], "again": 2},
		{"class": "suspicion", "kind": "many", "members": ["bad2"], "again": 4}],
		"complaints": [{"about": "bad3", "count": 7, "by": ["m1", "m2"]}]}`))
	require.NoError(t, err)
	assert.Equal(t, "2 proofs, 8 suspicions: bad2 5, bad3 3, bad1 2; complaints: bad3 7 by 2", verdictsOf(a).String())
	assert.Equal(t, "clean", verdicts{}.String())
}

func TestRow_Attack_BesideTheRunWithout(t *testing.T) {
	r := row{
		kind: kindOf("minter"), preset: "fair", members: 5, control: figures{first: 3, after: 3, wait: time.Second},
		figures: figures{first: 6, after: 1.5, overlap: 4 * time.Second, atOnce: 5, wait: 2 * time.Second, lying: 7},
		reports: []report.Report{{Offered: 10, Refused: 1, Sent: 9, Receipts: 8}},
	}
	assert.Equal(t, "| `minter` | `fair` | 5 | 3.00 | 200 % | 50 % | 4.0 s (0.0 s) | 5 | 0.0 s (0.0 s) | 2.0 s (1.0 s) | 8 of 10 | 7 | clean | "+
		"refused 1 |", r.String())
}

func TestRow_Flood_SaysWhoWasLetIn(t *testing.T) {
	const ms = time.Millisecond
	in := func(dials int, within time.Duration) visit { return visit{in: true, dials: dials, within: within} }
	r := row{
		reports: []report.Report{{Handshakes: 9000}}, initials: 150.4,
		newcomers: []visit{in(1, 5*ms), in(2, 1200*ms), in(1, 7*ms), {dials: 9}}, returns: []visit{{dials: 3}, {dials: 4, err: "no"}},
	}
	assert.Equal(t, "half-open handshakes 9000, Initial packets a second 150, "+
		"newcomers let in 3 of 4 (dials: 2 with 1, 1 with 2, 1 not with 9 together; median 7 ms, at most 1200 ms), "+
		"one of the returns: no, returns let in 0 of 2 (dials: 2 not with 7 together)", r.besides())
}

// datagram is an IPv4 packet with a QUIC packet of version 1.
func datagram(first byte, to, from string) []byte {
	p := append(make([]byte, 20+8), first, 0, 0, 0, 1)
	p[0], p[9] = 0x45, 17
	for _, id := range []string{to, from} {
		p = append(append(p, byte(len(id))), id...)
	}
	return p
}

func TestInitial_Packets_OnlyThoseOfQUIC(t *testing.T) {
	good := datagram(0xc3, "toward", "from")
	p, ok := initialOf(good)
	require.True(t, ok)
	assert.Equal(t, initialPacket{"toward", "from"}, p)
	for i := range good {
		_, ok := initialOf(good[:i])
		assert.False(t, ok, i)
	}
	for what, change := range map[string]func([]byte){
		"IPv6": func(b []byte) { b[0] = 0x65 }, "TCP": func(b []byte) { b[9] = 6 }, "long IP header": func(b []byte) { b[0] = 0x4f },
		"short header": func(b []byte) { b[28] = 0x40 }, "Handshake": func(b []byte) { b[28] = 0xe0 }, "Retry": func(b []byte) { b[28] = 0xf0 },
		"version": func(b []byte) { b[32] = 2 }, "long id": func(b []byte) { b[33] = 21 },
	} {
		b := slices.Clone(good)
		change(b)
		_, ok := initialOf(b)
		assert.False(t, ok, what)
	}
}

func TestKnocks_Dials_CountedOnceAndWithoutAnswers(t *testing.T) {
	const member, guest, other, flooder = 0, 3, 4, 5
	const initial = 0xc0
	k := newKnocks(member)
	k.look(guest, member, datagram(initial, "x", "early"))
	k.begin(guest)
	dials, first := k.of(guest)
	assert.Zero(t, dials)
	assert.Zero(t, first)
	k.look(guest, member, datagram(initial, "random", "a"))
	_, first = k.of(guest)
	assert.NotZero(t, first)
	k.look(member, guest, datagram(0xf0, "a", "retry"))
	k.look(guest, member, datagram(initial, "retry", "a")) // the same dial
	k.look(member, guest, datagram(initial, "a", "b"))     // the answer
	k.look(guest, member, datagram(initial, "b", "a"))
	k.look(guest, other, datagram(initial, "random", "z")) // another member
	k.look(guest, member, datagram(initial, "random", "c"))
	k.look(member, guest, datagram(initial, "random", "d")) // the member dials the guest
	k.look(guest, member, datagram(initial, "d", "e"))
	for range 7 {
		k.look(flooder, member, datagram(initial, "random", "f"))
	}
	dials, again := k.of(guest)
	assert.Equal(t, 2, dials)
	assert.Equal(t, first, again)
	assert.Equal(t, 7, k.from(flooder))
}
