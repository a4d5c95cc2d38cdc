package wandering

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// candidatesMost is how many members a token carries that have waited longest.
const candidatesMost = 16

// A token of the presets light and fair carries
//
//	form 1 | streak 1 | age 4 | 0 to 16 times (member 16 | age 4)
//
// numbers big-endian and ages in ms: how many hops ago somebody operated, how long ago
// it was made, and the members known to have waited longest, with the time since they
// were served.
const (
	baggageForm = 1
	baggageHead = 1 + 1 + 4
	baggageMost = baggageHead + candidatesMost*waiterSize
)

// baggage is what a token carries, its candidates apart.
type baggage struct {
	streak  uint8
	age     uint32
	records []byte
}

// parseBaggage reads what appendBaggage writes. Anything else is as nothing: a
// token that has just been made.
func parseBaggage(field []byte) baggage {
	b, _ := readBaggage(field)
	return b
}

func readBaggage(field []byte) (b baggage, ok bool) {
	n := len(field) - baggageHead
	if n < 0 || n%waiterSize != 0 || len(field) > baggageMost || field[0] != baggageForm {
		return b, false
	}
	return baggage{field[1], binary.BigEndian.Uint32(field[2:]), field[baggageHead:]}, true
}

// appendBaggage writes what the token here carries.
func (w *walker) appendBaggage(to []byte) []byte {
	to = append(to, baggageForm, w.streak)
	to = binary.BigEndian.AppendUint32(to, millis(w.Now.Sub(w.birth)))
	if w.fair != nil {
		to = w.fair.asksBack(w.fair.candidates.append(w.Now, to))
	}
	return to
}

// candidate is a member that may be next.
type candidate struct {
	member ident.Member
	served clock.Instant
	weight int
	source ident.Member // the member that reported it; zero: it came with the token, or is known here
}

// candidates are the members known to have waited longest, the longest first.
type candidates struct {
	list [candidatesMost]candidate
	n    int
}

func (c *candidates) append(now clock.Instant, to []byte) []byte {
	c.order(now)
	for i := range c.list[:c.n] {
		to = (&waiter{c.list[i].member, millis(now.Sub(c.list[i].served))}).append(to)
	}
	return to
}

// waited is how long a candidate has waited, as waits are weighed.
func (e *candidate) waited(now clock.Instant) time.Duration {
	return policy.Weighted(now.Sub(e.served), e.weight)
}

// order puts those first that have waited longest now: a wait of greater weight grows faster.
func (c *candidates) order(now clock.Instant) {
	slices.SortStableFunc(c.list[:c.n], func(a, b candidate) int { return cmp.Compare(b.waited(now), a.waited(now)) })
}

// insert adds a member, or what is known of it now: of two times at which it was
// served the later one counts. Who has waited least gives way.
func (c *candidates) insert(now clock.Instant, e candidate) {
	if e.member.IsZero() {
		return
	}
	c.order(now)
	for i := range c.list[:c.n] {
		if c.list[i].member == e.member {
			if e.served <= c.list[i].served {
				return
			}
			c.removeAt(i)
			break
		}
	}
	i := c.n
	for i > 0 && e.waited(now) > c.list[i-1].waited(now) {
		i--
	}
	if i == candidatesMost {
		return
	}
	c.n = min(c.n+1, candidatesMost)
	copy(c.list[i+1:c.n], c.list[i:])
	c.list[i] = e
}

func (c *candidates) removeAt(i int) {
	copy(c.list[i:], c.list[i+1:c.n])
	c.n--
}

func (c *candidates) remove(m ident.Member) {
	for i := range c.list[:c.n] {
		if c.list[i].member == m {
			c.removeAt(i)
			return
		}
	}
}

// threshold is how long a member must have waited to be worth a report, in ms and as waits are weighed: as
// long as one in the middle of the list.
func (c *candidates) threshold(now clock.Instant) uint32 {
	if c.n < candidatesMost/2 {
		return 0
	}
	c.order(now)
	return min(millis(c.list[candidatesMost/2-1].waited(now)), nothingOlder-1)
}
