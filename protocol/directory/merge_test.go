package directory_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// fact is one signed object that a directory can learn.
type fact struct {
	name  string
	about someone
	learn func(*directory.Directory) (bool, error)
}

// facts has several versions of everything about a few members, with ties.
func facts(ca *authority, members int) []fact {
	var list []fact
	certificate := func(s someone, serial uint64, left time.Duration) {
		raw := s.issued(serial, -time.Hour, left).Raw()
		list = append(list, fact{fmt.Sprintf("certificate %d of %d", serial, s.n), s, func(d *directory.Directory) (bool, error) {
			_, news, err := d.Learn(raw)
			return news, err
		}})
	}
	other := func(what string, s someone, raw []byte, learn func(*directory.Directory, []byte) (bool, error)) {
		list = append(list, fact{fmt.Sprintf("%s of %d", what, s.n), s, func(d *directory.Directory) (bool, error) {
			return learn(d, raw)
		}})
	}
	all := ca.members(members)
	for i, s := range all {
		for n, o := range all {
			if n != i {
				for _, sequence := range []uint64{1, 2, 3} {
					other(fmt.Sprintf("failure at %d by %d", sequence, o.n), s, o.failure(s, sequence), (*directory.Directory).LearnFailure)
				}
			}
		}
		other("leave", s, s.leave(7), (*directory.Directory).LearnLeave)
		other("other leave", s, s.leave(8), (*directory.Directory).LearnLeave)
		certificate(s, 10, month)
		certificate(s, 11, month) // expires in the same second
		certificate(s, 5, 2*month)
		certificate(s, 7, -time.Minute)
		other("endpoint 1", s, s.endpoint(1, "one.example:1"), (*directory.Directory).LearnEndpoint)
		other("endpoint 2", s, s.endpoint(2, "two.example:1"), (*directory.Directory).LearnEndpoint)
		other("other endpoint 2", s, s.endpoint(2, "zwo.example:1"), (*directory.Directory).LearnEndpoint)
		if i%2 == 0 {
			other("revocation", s, s.revocation(uint64(i+1)), (*directory.Directory).LearnRevocation)
			other("second revocation", s, s.revocation(uint64(i+2)), (*directory.Directory).LearnRevocation)
		}
	}
	return list
}

// learnAll learns the facts in this order. What members say that are not known
// yet waits, as it does when a peer is asked for a certificate.
func learnAll(t require.TestingT, d *directory.Directory, order []fact) {
	for len(order) > 0 {
		var waiting []fact
		for _, f := range order {
			if _, err := f.learn(d); errors.Is(err, directory.ErrUnknown) {
				waiting = append(waiting, f)
			} else {
				require.NoError(t, err, f.name)
			}
		}
		if len(waiting) == len(order) {
			return // whose certificate is not among the facts
		}
		order = waiting
	}
}

// picture is all that can be seen of the members, at three times.
func picture(d *directory.Directory, members []someone) string {
	text := fmt.Sprintf("%d members, revocations to %d\n", d.Len(), d.RevocationVersion())
	for id := range d.Members() {
		text += id.Short() + " "
	}
	for _, s := range members {
		c, known := d.Certificate(s.id)
		text += fmt.Sprintf("\n%d: %v %v", s.n, known, d.Addresses(s.id))
		if known {
			text += fmt.Sprintf(" serial %d", c.Body().Serial)
		}
		for _, at := range []time.Duration{-2 * time.Hour, 0, month} {
			text += fmt.Sprintf(" %v", d.Eligible(s.id, now.Add(at)))
		}
		endpoint, _ := d.Endpoint(s.id)
		revocation, _ := d.Revocation(s.id)
		left, _ := d.Left(s.id)
		e, _ := d.Entry(s.id)
		text += fmt.Sprintf(" %x %x %x %x %v", endpoint, revocation, left, e, d.Failed(s.id))
		text += fmt.Sprintf(" %x %x", d.KeptFailures(s.id), d.Failures(s.id))
	}
	raws, _ := d.Revocations(0, 1000)
	count, xor := d.Fingerprint()
	return text + fmt.Sprintf("\n%x %d %x", raws, count, xor)
}

// anyQuorum makes directories of one group, which has some quorum.
func anyQuorum(t *rapid.T, ca *authority) func() *directory.Directory {
	quorum := rapid.IntRange(2, 3).Draw(t, "quorum")
	return func() *directory.Directory {
		d := directory.New(ca, ident.Member{})
		d.SetQuorum(quorum)
		return d
	}
}

// In any order and any number of times, the same facts give the same
// directory, and what is no news changes nothing. (D-1)
func TestLearn_AnyOrder_CommutesIdempotent(t *testing.T) {
	ca := newAuthority(1)
	all, members := facts(ca, 3), ca.members(3)
	rapid.Check(t, func(t *rapid.T) {
		any := func(least int) *rapid.Generator[[]int] {
			return rapid.SliceOfNDistinct(rapid.IntRange(0, len(all)-1), least, len(all), rapid.ID[int])
		}
		some := rapid.OneOf(any(0), any(len(all)/2)).Draw(t, "facts") // rapid prefers short lists
		var once, shuffled []fact
		for _, i := range some {
			once = append(once, all[i])
		}
		for _, i := range rapid.Permutation(append(some, some...)).Draw(t, "again") {
			shuffled = append(shuffled, all[i])
		}
		fresh := anyQuorum(t, ca)
		a, b := fresh(), fresh()
		learnAll(t, a, once)
		learnAll(t, b, shuffled)
		require.Equal(t, picture(a, members), picture(b, members))

		before := picture(a, members)
		for _, f := range once {
			news, err := f.learn(a)
			require.False(t, news, f.name)
			require.True(t, err == nil || errors.Is(err, directory.ErrUnknown), f.name)
		}
		require.Equal(t, before, picture(a, members))
	})
}

// News is said exactly when the directory changes.
func TestLearn_News_MeansChange(t *testing.T) {
	ca := newAuthority(1)
	all, members := facts(ca, 2), ca.members(2)
	rapid.Check(t, func(t *rapid.T) {
		d := anyQuorum(t, ca)()
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 20, 40).Draw(t, "facts") {
			before := picture(d, members)
			news, _ := all[i].learn(d)
			require.Equal(t, news, before != picture(d, members), all[i].name)
			require.NoError(t, d.Check())
		}
	})
}

// exchange lets one directory learn all that another tells.
func exchange(t require.TestingT, to, from *directory.Directory) {
	raws, _ := from.Revocations(0, 1000)
	for _, raw := range raws {
		_, err := to.LearnRevocation(raw)
		require.NoError(t, err)
	}
	entries, _, more := from.Page(ident.Member{}, ident.LastMember(), 1000, 1<<20)
	require.False(t, more)
	for range 2 { // what a witness says whose certificate was not known yet
		for _, l := range to.LearnPage(entries, nil) {
			require.True(t, l.Err == nil || errors.Is(l.Err, directory.ErrUnknown), "%v", l.Err)
		}
	}
}

// living is picture without those who are dead: of them only the death
// travels.
func living(d *directory.Directory, members []someone) string {
	var alive []someone
	for _, s := range members {
		if _, dead := d.Revocation(s.id); !dead {
			alive = append(alive, s)
		}
	}
	text := fmt.Sprintf("%d alive, revocations to %d", len(alive), d.RevocationVersion())
	for _, s := range alive {
		c, _ := d.Certificate(s.id)
		endpoint, _ := d.Endpoint(s.id)
		e, _ := d.Entry(s.id)
		text += fmt.Sprintf("\n%d: %x %x %x %v %v", s.n, c.Raw(), endpoint, e, d.Failed(s.id), d.Eligible(s.id, now))
	}
	raws, _ := d.Revocations(0, 1000)
	count, xor := d.Fingerprint()
	return text + fmt.Sprintf("\n%x %d %x", raws, count, xor)
}

// Three members that tell each other what they know agree in the end,
// whoever talks first: (a and b) and c is a and (b and c). (D-1)
func TestMerge_AnyGrouping_Associative(t *testing.T) {
	ca := newAuthority(1)
	all, members := facts(ca, 3), ca.members(3)
	rapid.Check(t, func(t *rapid.T) {
		parts := make([][]fact, 3)
		for _, f := range all {
			// The certificate comes with the endpoint record, as on a page.
			for _, to := range rapid.SliceOfN(rapid.IntRange(0, 2), 0, 2).Draw(t, f.name) {
				parts[to] = append(parts[to], f)
			}
		}
		empty := anyQuorum(t, ca)
		fresh := func(i int) *directory.Directory {
			d := empty()
			learnAll(t, d, parts[i])
			return d
		}
		left, right := fresh(0), fresh(1)
		exchange(t, left, fresh(1))
		exchange(t, left, fresh(2))
		exchange(t, right, fresh(2))
		first := fresh(0)
		exchange(t, first, right)
		require.Equal(t, living(left, members), living(first, members))
	})
}
