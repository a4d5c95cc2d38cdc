package ringcheck

import "hash/maphash"

// table finds the number of a state by its key: open addressing with linear
// probing, at most half full.
type table struct {
	keys  pages[key]
	slots []uint32 // number + 1, or 0
	seed  maphash.Seed
}

// firstSlots is the size of an empty table.
const firstSlots = 1 << 10

func newTable() *table {
	return &table{slots: make([]uint32, firstSlots), seed: maphash.MakeSeed()}
}

// number is the number of a key, which is the next one where it is new.
// Numbers do not depend on the seed.
func (t *table) number(k key) (id uint32, fresh bool) {
	slot := t.slot(k)
	if t.slots[slot] > 0 {
		return t.slots[slot] - 1, false
	}
	if 2*(t.keys.n+1) > len(t.slots) {
		t.grow()
		slot = t.slot(k)
	}
	id = uint32(t.keys.n)
	t.slots[slot] = id + 1
	t.keys.append(k)
	return id, true
}

// slot is where the key is, or belongs.
func (t *table) slot(k key) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := maphash.Comparable(t.seed, k) & mask
	for t.slots[i] > 0 && *t.keys.at(int(t.slots[i] - 1)) != k {
		i = (i + 1) & mask
	}
	return i
}

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.keys.n {
		t.slots[t.slot(*t.keys.at(i))] = uint32(i + 1)
	}
}
