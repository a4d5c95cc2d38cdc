package faultfs

import (
	"math/rand/v2"
	"slices"
)

// inode is a file apart from its name.
type inode struct {
	cached  []byte // what processes see
	disk    []byte // what power failure leaves for certain
	pending []edit // since the last sync, in order
}

// edit is a change of a file's contents: a write, or a cut when data is nil.
type edit struct {
	at   int64
	data []byte
}

func (e edit) apply(to []byte) []byte {
	if e.data == nil {
		return extend(to, e.at)[:e.at]
	}
	to = extend(to, e.at+int64(len(e.data)))
	copy(to[e.at:], e.data)
	return to
}

// extend makes b at least size bytes long with zeros.
func extend(b []byte, size int64) []byte {
	if n := size - int64(len(b)); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	return b
}

func (n *inode) do(e edit) {
	n.cached = e.apply(n.cached)
	n.pending = append(n.pending, e)
}

// sync makes the pending edits durable.
func (n *inode) sync() {
	for _, e := range n.pending {
		n.disk = e.apply(n.disk)
	}
	n.pending = nil
}

// afterPowerLoss is what one possible power failure leaves of the file.
func (n *inode) afterPowerLoss(rng *rand.Rand) []byte {
	left := slices.Clone(n.disk)
	whole := rng.IntN(len(n.pending) + 1)
	for _, e := range n.pending[:whole] {
		left = e.apply(left)
	}
	if whole == len(n.pending) || n.pending[whole].data == nil {
		return left
	}
	torn := n.pending[whole]
	end := torn.at + int64(len(torn.data))
	torn.data = torn.data[:rng.IntN(len(torn.data)+1)]
	if len(torn.data) > 0 {
		left = torn.apply(left)
	}
	if rng.IntN(2) == 0 { // the new size got through, the data did not
		left = extend(left, end)
	}
	return left
}

// clone copies the file with everything that is pending.
func (n *inode) clone() *inode {
	return &inode{cached: slices.Clone(n.cached), disk: slices.Clone(n.disk), pending: slices.Clone(n.pending)}
}

// flip flips one bit wherever the file is long enough to have it.
func (n *inode) flip(bit int64) {
	mask := byte(0x80) >> (bit % 8)
	n.cached[bit/8] ^= mask
	if bit/8 < int64(len(n.disk)) {
		n.disk[bit/8] ^= mask
	}
}
