package directory

import (
	"crypto/aes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// witnessDomain keeps the keys of witnesses apart from whatever else is hashed.
const witnessDomain = "wander witnesses\x00"

// WitnessRank ranks members as timekeepers of one member or slot (rule D-47): a
// timekeeper remembers when another member last had the token. The rank of a
// member is its id, encrypted with AES-128 and read as a number; the key is
// made of the group and of the member whose timekeepers are ranked. Ids are
// hashes of keys, so a member can change a rank only by generating keys until
// one happens to suit. AES is 15 times as fast here as SHA-256, and members
// rank everybody.
type WitnessRank struct {
	cipher interface{ Encrypt(dst, src []byte) }
	block  [aes.BlockSize]byte // so that Of allocates nothing
}

// NewWitnessRank returns the ranking of the timekeepers of a member.
func NewWitnessRank(group ident.Group, of ident.Member) *WitnessRank {
	h := sha256.New()
	h.Write([]byte(witnessDomain))
	h.Write(group[:])
	h.Write(of[:])
	c, err := aes.NewCipher(h.Sum(nil)[:aes.BlockSize])
	if err != nil {
		panic(err) // 16 bytes are a key
	}
	return &WitnessRank{cipher: c}
}

// Of returns the rank of a member as the two big-endian halves of a number. No
// two members have the same.
func (r *WitnessRank) Of(witness ident.Member) [2]uint64 {
	r.block = witness
	r.cipher.Encrypt(r.block[:], r.block[:])
	return [2]uint64{binary.BigEndian.Uint64(r.block[:8]), binary.BigEndian.Uint64(r.block[8:])}
}

// Above reports whether rank a is higher than rank b.
func Above(a, b [2]uint64) bool { return a[0] > b[0] || a[0] == b[0] && a[1] > b[1] }

// ranked is a witness and its rank.
type ranked struct {
	rank [2]uint64
	id   ident.Member
}

func (r ranked) above(o ranked) bool { return Above(r.rank, o.rank) }

// slotDomain keeps the ids of slots apart from whatever else is hashed.
const slotDomain = "wander slot\x00"

// SlotID returns an id that stands for a slot in NewWitnessRank and Voters: the
// members that rank highest for it generate the slot's first token (rule P-47).
func SlotID(resource string, number uint64) (id ident.Member) {
	h := sha256.New()
	h.Write([]byte(slotDomain))
	h.Write(binary.BigEndian.AppendUint64(nil, number))
	h.Write([]byte(resource))
	copy(id[:], h.Sum(nil))
	return id
}

// Witnesses appends the n timekeepers of a member, the highest rank first. It
// takes them from all other members that are known here, have an address and
// are eligible at the time now, this member included; where fewer are known it
// appends fewer. A member that only dials out is nobody's timekeeper, because
// few can reach it. A member that is known here and not eligible has no
// timekeepers, because it cannot have a turn.
//
// The list does not depend on who is connected, so all who know the same
// members name the same timekeepers. With a sample (SetSample) members know
// different ones. With samples of k in a group of N, about n·k/N of the n
// timekeepers that two members name are the same.
//
// The cost grows with the number of members: see BenchmarkDirectory.
func (reg *Register) Witnesses(of ident.Member, n int, now time.Time, to []ident.Member) []ident.Member {
	if f := reg.members[of]; n <= 0 || f != nil && f.status(now) != nil {
		return to
	}
	ranks, best := NewWitnessRank(reg.group, of), make([]ranked, 0, n+1)
	for i := range reg.order.blocks {
		b := &reg.order.blocks[i]
		for k, id := range b.ids {
			r := ranked{ranks.Of(id), id}
			if len(best) == n && !r.above(best[n-1]) {
				continue // nearly all of a large group: nothing else of it is looked at
			}
			if f := b.list[k]; id == of || !f.reachable() || f.status(now) != nil {
				continue
			}
			at := len(best)
			for at > 0 && r.above(best[at-1]) {
				at--
			}
			best = slices.Insert(best, at, r)
			best = best[:min(n, len(best))]
		}
	}
	for _, r := range best {
		to = append(to, r.id)
	}
	return to
}
