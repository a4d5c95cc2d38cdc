package directory_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

func ids(list []someone) []ident.Member {
	var ids []ident.Member
	for _, s := range list {
		ids = append(ids, s.id)
	}
	slices.SortFunc(ids, ident.Member.Compare)
	return ids
}

func TestMembers_Iteration_InOrder(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(40)
	d := directory.New(ca, list[0].id)
	for i, s := range list {
		d.Admit(s.certificate(month))
		if i%7 == 0 { // between two looks some come in
			assert.Equal(t, ids(list[:i+1]), slices.Collect(d.Members()))
		}
	}
	assert.Equal(t, ids(list), slices.Collect(d.Members()))
	assert.Equal(t, 40, d.Len())
}

// Page after page gives every living member once, in order, with what is known
// of it.
func TestPages_AnyDirectory_EverybodyOnce(t *testing.T) {
	ca := newAuthority(1)
	all := ca.members(10)
	rapid.Check(t, func(t *rapid.T) {
		d := directory.New(ca, all[0].id)
		var living []someone
		version := uint64(0)
		for _, s := range all {
			switch rapid.IntRange(0, 3).Draw(t, "state") {
			case 0: // not known
			case 1:
				introduce(t, d, s)
				living = append(living, s)
			case 2:
				d.Admit(s.certificate(month))
				living = append(living, s)
			case 3:
				introduce(t, d, s)
				version++
				must(d.LearnRevocation(s.revocation(version)))
			}
		}
		most := rapid.IntRange(1, 5).Draw(t, "most")
		maxBytes := rapid.IntRange(0, 3000).Draw(t, "bytes")
		from, through := someRange(t, all)
		var got []ident.Member
		at, more := from, true
		for more {
			var entries []wire.Entry
			var last ident.Member
			entries, last, more = d.Page(at, through, most, maxBytes)
			require.True(t, len(entries) > 0 || !more)
			require.LessOrEqual(t, len(entries), most)
			body, err := wire.Encode(&wire.Members{Entries: entries, Through: last, More: more})
			require.NoError(t, err)
			const frame = 6 + 17 // heads of message, fields and list, the flag, and the id
			require.True(t, len(body) <= maxBytes+frame || len(entries) == 1, "%d bytes", len(body))
			for _, e := range entries {
				got = append(got, checkEntry(t, ca, d, e))
			}
			require.True(t, more && last == got[len(got)-1] || !more && last == through)
			at = last.Next()
		}
		var want []ident.Member
		for _, id := range ids(living) {
			if id.Compare(from) >= 0 && id.Compare(through) <= 0 {
				want = append(want, id)
			}
		}
		require.Equal(t, want, got)
	})
}

// someRange is a range of ids whose ends are those of members or not.
func someRange(t *rapid.T, list []someone) (from, through ident.Member) {
	end := rapid.Custom(func(t *rapid.T) ident.Member {
		m := rapid.SampledFrom(list).Draw(t, "member").id
		switch rapid.IntRange(0, 3).Draw(t, "which") {
		case 0:
			return ident.Member{}
		case 1:
			return ident.LastMember()
		case 2:
			return m.Next()
		}
		return m
	})
	return end.Draw(t, "from"), end.Draw(t, "through")
}

// checkEntry learns an entry anew and compares it with what d knows.
func checkEntry(t *rapid.T, ca *authority, d *directory.Directory, e wire.Entry) ident.Member {
	other := directory.New(ca, ident.Member{})
	c, _, err := other.Learn(e.Certificate)
	require.NoError(t, err)
	if len(e.Endpoint) > 0 {
		must(other.LearnEndpoint(e.Endpoint))
	}
	require.Equal(t, d.Addresses(c.Member()), other.Addresses(c.Member()))
	return c.Member()
}

func TestPage_AboveTheLast_Empty(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	entries, last, more := d.Page(ids(list)[2].Next(), ident.LastMember(), 10, 1<<20)
	assert.Empty(t, entries)
	assert.Equal(t, ident.LastMember(), last)
	assert.False(t, more)
	entries, _, more = d.Page(ids(list)[2], ident.LastMember(), 10, 1<<20)
	assert.Len(t, entries, 1)
	assert.False(t, more)
}

// More is not said when only the dead remain above.
func TestPage_DepartedMember_NotOnIt(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(3)
	d := directory.New(ca, list[0].id)
	introduce(t, d, list...)
	order := ids(list)
	for _, s := range list {
		if s.id == order[2] {
			must(d.LearnRevocation(s.revocation(1)))
		}
	}
	entries, _, more := d.Page(ident.Member{}, ident.LastMember(), 2, 1<<20)
	assert.Len(t, entries, 2)
	assert.False(t, more)
}

// What MaxMembers says about memory.
func TestMemory_PerMember_Bounded(t *testing.T) {
	ca := newAuthority(1)
	list := ca.members(500)
	type objects struct{ certificate, endpoint []byte }
	var known []objects
	for _, s := range list {
		known = append(known, objects{s.certificate(month).Raw(), s.endpoint(1, "member.example.org:4133")})
	}
	before := heap()
	d := directory.New(ca, list[0].id)
	for _, k := range known {
		_, _, err := d.Learn(k.certificate)
		require.NoError(t, err)
		_, err = d.LearnEndpoint(k.endpoint)
		require.NoError(t, err)
	}
	each := (heap() - before) / uint64(len(list))
	runtime.KeepAlive(d)
	runtime.KeepAlive(known)
	t.Logf("%d bytes for each member", each)
	assert.Less(t, each, uint64(4096))
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
