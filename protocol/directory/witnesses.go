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

// WitnessRank is how high a member stands among the witnesses of another (rule
// D-47): the encryption of its id with AES-128, as a number, under a key made of the
// group and of whom it witnesses. Ids are hashes of keys, so that neither of the two
// has a say in it but by making keys until chance is kind. AES and not SHA-256 for
// each pair because members rank everybody: it is 15 times as fast.
type WitnessRank struct {
	cipher interface{ Encrypt(dst, src []byte) }
	block  [aes.BlockSize]byte // so that Of allocates nothing
}

// NewWitnessRank returns the ranks of the witnesses of a member.
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

// Of is the rank of a witness: two big-endian halves of a number. No two members
// have the same.
func (r *WitnessRank) Of(witness ident.Member) [2]uint64 {
	r.block = witness
	r.cipher.Encrypt(r.block[:], r.block[:])
	return [2]uint64{binary.BigEndian.Uint64(r.block[:8]), binary.BigEndian.Uint64(r.block[8:])}
}

// Above reports whether a rank is higher than another.
func Above(a, b [2]uint64) bool { return a[0] > b[0] || a[0] == b[0] && a[1] > b[1] }

// ranked is a witness and its rank.
type ranked struct {
	rank [2]uint64
	id   ident.Member
}

func (r ranked) above(o ranked) bool { return Above(r.rank, o.rank) }

// slotDomain keeps the ids of slots apart from whatever else is hashed.
const slotDomain = "wander slot\x00"

// SlotID stands for a slot in the place of the member of whom others are the witnesses:
// those that rank highest found the slot (rule P-47).
func SlotID(resource string, number uint64) (id ident.Member) {
	h := sha256.New()
	h.Write([]byte(slotDomain))
	h.Write(binary.BigEndian.AppendUint64(nil, number))
	h.Write([]byte(resource))
	copy(id[:], h.Sum(nil))
	return id
}

// Witnesses appends the n witnesses of a member, the highest rank first: among all
// others that are known here, say where they can be dialled, and are eligible
// at the time now, those that rank highest; fewer where fewer are known. This member
// may be one. Who only dials out is nobody's: few can tell it anything. A member that
// is known here and not eligible has none: nobody keeps a turn for it.
//
// It says nothing of who is connected, so that all who know the same members name the
// same ones. With a sample (SetSample) members know different ones, and of the n that
// two of them name about n·k/N are the same, for samples of k in a group of N.
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
