package handoff

import (
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// maxOpenings bounds the openings of the journal that are kept, and so a checkpoint.
// An object that was signed in an older one counts as remembered: since then the member
// has met the peers that saw it, or its tokens were used long ago.
const maxOpenings = 64

// Loss says what a position that this member has signed shows about its
// journal: whether the journal is an older copy.
type Loss uint8

// The losses.
const (
	Whole  Loss = iota // nothing is missing
	Cut                // the journal ends before the position
	Lacks              // an opening is missing: the journal is an older one
	Copied             // the position is of a later opening than this one: another process has the same key
)

func (l Loss) String() string {
	return [...]string{"whole", "the journal ends before it", "the journal lacks that start", "it is of a later start than this one"}[l]
}

// opening is one start of a member with its journal.
type opening struct {
	number uint64
	tag    [token.TagSize]byte
	end    uint64 // serial of its last record of custody
}

// openings are those that a custody memory knows of, oldest first (handoff rules §10).
type openings struct {
	list   []opening
	serial uint64
	opened token.Position // where the opening of this process begins; zero before it
}

// note counts a record that is durable, or will be before anything that depends on it.
func (o *openings) note(r journal.Record) {
	switch r := r.(type) {
	case *journal.Opened:
		o.open(r)
		return
	case *journal.Generated, *journal.Held, *journal.Sent, *journal.Reclaimed, *journal.Voided, *journal.Dropped:
	default:
		return
	}
	o.serial++
	if n := len(o.list); n > 0 {
		o.list[n-1].end = o.serial
	}
}

// open notes an opening: a new one, or, in a checkpoint, one that there was. The records
// of custody before it in a checkpoint are copies, which it takes out of the count.
func (o *openings) open(r *journal.Opened) {
	o.serial = r.Serial
	if n := len(o.list); n > 0 && o.list[n-1].tag == r.Tag {
		o.list[n-1].end = r.Serial
		return
	}
	if len(o.list) == maxOpenings {
		o.list = append(o.list[:0], o.list[1:]...)
	}
	o.list = append(o.list, opening{r.Opening, r.Tag, r.Serial})
}

// at is the position of the last record, and ahead records later.
func (o *openings) at(ahead uint64) token.Position {
	n := len(o.list)
	if n == 0 {
		return token.Position{}
	}
	return token.Position{Opening: o.list[n-1].number, Tag: o.list[n-1].tag, Serial: o.serial + ahead}
}

// loss compares a position that this member has signed with what the journal has.
// A position older than the first opening is one of a former memory.
func (o *openings) loss(p token.Position) Loss {
	if len(o.list) == 0 || p.Opening < o.list[0].number {
		return Whole
	}
	for _, x := range o.list {
		if x.number == p.Opening && x.tag == p.Tag {
			if p.Serial > x.end {
				return Cut
			}
			return Whole
		}
	}
	if p.Opening > o.list[len(o.list)-1].number {
		return Copied
	}
	return Lacks
}

// begin is the record of an opening after all others.
func (o *openings) begin(number uint64, tag [token.TagSize]byte) *journal.Opened {
	return &journal.Opened{Opening: number, Tag: tag, Serial: o.serial}
}

// records are the openings for a checkpoint. They stand behind what it copies.
func (o *openings) records() (list []journal.Record) {
	for _, x := range o.list {
		list = append(list, &journal.Opened{Opening: x.number, Tag: x.tag, Serial: x.end})
	}
	return list
}
