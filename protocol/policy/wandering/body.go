package wandering

import (
	"encoding/binary"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// bodyKind says what a message between two walkers is.
type bodyKind uint8

const (
	// look, by the member that has passed a token on: this member is served. Report to it the
	// members whose turns you keep and that have waited longer than this. With no member, by the
	// holder of a token: report to me.
	look bodyKind = iota + 1
	// report answers a look.
	report
	// inquire, by the holder of a token: when was this member served? And, to the
	// member itself: do you want the token?
	inquire
	// answer answers an inquire.
	answer
	// demand, to one's timekeepers: I want the token, or do not any more; and so long ago
	// I had it last.
	demand
	// heard tells the holder of a token of one that precedes it: I had this one, or that
	// member told me of it.
	heard
)

// What an answer says of a member.
const (
	unserved  byte = iota // nothing is known
	willing               // it wants the token
	unwilling             // it does not
)

const (
	sightSize  = 32 + 8 + 8 + 4
	waiterSize = 16 + 4
	// reportMost bounds the records of a report.
	reportMost = 4
)

// bodySizes are the sizes of all bodies but report, each behind its kind.
var bodySizes = [heard + 1]int{
	look: 1 + sightSize + 16 + 4 + 4, inquire: 1 + sightSize + 16,
	answer: 1 + 16 + 4 + 1, demand: 1 + 1 + 4, heard: 1 + sightSize + 16,
}

// sight is a token as one member tells of it.
type sight struct {
	id   ident.Token
	born uint64
	hop  uint64
	age  uint32 // ms since it was made; in heard: since it was heard of
}

// waiter is a member and how long ago it was served, in ms.
type waiter struct {
	member ident.Member
	age    uint32
}

// body is what one walker tells another one. Which fields it has depends on its
// kind:
//
//	look     sight 52 | member 16 | age 4 | older 4
//	report   1 to 4 times (member 16 | age 4)
//	inquire  sight 52 | member 16
//	answer   member 16 | age 4 | what 1
//	demand   what 1 | age 4
//	heard    sight 52 | member 16
//
// behind one byte of kind, numbers big-endian, and a sight as token 32 | born 8 |
// hop 8 | age 4. None carries any authority.
type body struct {
	kind    bodyKind
	sight   sight
	member  ident.Member
	age     uint32
	older   uint32
	what    byte
	records [reportMost]waiter
	n       int
}

func (m *body) append(to []byte) []byte {
	to = append(to, byte(m.kind))
	switch m.kind {
	case look:
		to = append(m.appendSight(to), m.member[:]...)
		to = binary.BigEndian.AppendUint32(to, m.age)
		to = binary.BigEndian.AppendUint32(to, m.older)
	case report:
		for i := range m.n {
			to = m.records[i].append(to)
		}
	case inquire:
		to = append(m.appendSight(to), m.member[:]...)
	case answer:
		to = append((&waiter{m.member, m.age}).append(to), m.what)
	case demand:
		to = binary.BigEndian.AppendUint32(append(to, m.what), m.age)
	case heard:
		to = append(m.appendSight(to), m.member[:]...)
	}
	return to
}

func (m *body) appendSight(to []byte) []byte {
	to = binary.BigEndian.AppendUint64(append(to, m.sight.id[:]...), m.sight.born)
	to = binary.BigEndian.AppendUint64(to, m.sight.hop)
	return binary.BigEndian.AppendUint32(to, m.sight.age)
}

func (r *waiter) append(to []byte) []byte {
	return binary.BigEndian.AppendUint32(append(to, r.member[:]...), r.age)
}

// reader takes fixed parts from a body whose size is known to be right.
type reader []byte

func (r *reader) take(n int) []byte {
	part := (*r)[:n]
	*r = (*r)[n:]
	return part
}

func (r *reader) u32() uint32          { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64          { return binary.BigEndian.Uint64(r.take(8)) }
func (r *reader) token() ident.Token   { return ident.Token(r.take(32)) }
func (r *reader) member() ident.Member { return ident.Member(r.take(16)) }
func (r *reader) sight() sight         { return sight{r.token(), r.u64(), r.u64(), r.u32()} }

// parseBody reads what append writes. Anything else is not ok, and ignored: a later
// version may say more.
func parseBody(b []byte, m *body) bool {
	if len(b) == 0 || len(b) > policy.MaxField {
		return false
	}
	m.kind = bodyKind(b[0])
	if m.kind == report {
		return m.parseReport(b[1:])
	}
	if int(m.kind) >= len(bodySizes) || len(b) != bodySizes[m.kind] {
		return false
	}
	r, least, most := reader(b[1:]), unserved, byte(0)
	switch m.kind {
	case look:
		m.sight, m.member, m.age, m.older = r.sight(), r.member(), r.u32(), r.u32()
	case inquire:
		m.sight, m.member = r.sight(), r.member()
	case answer:
		m.member, m.age, m.what, most = r.member(), r.u32(), r.take(1)[0], unwilling
	case demand:
		m.what, m.age, least, most = r.take(1)[0], r.u32(), willing, unwilling
	case heard:
		m.sight, m.member = r.sight(), r.member()
	}
	return least <= m.what && m.what <= most
}

func (m *body) parseReport(b []byte) bool {
	m.n = len(b) / waiterSize
	if len(b)%waiterSize != 0 || m.n == 0 || m.n > reportMost {
		return false
	}
	r := reader(b)
	for i := range m.n {
		m.records[i] = waiter{r.member(), r.u32()}
	}
	return true
}
