package circulation

// table is a list whose places are used again.
type table[T any] struct {
	list []T
	room []int32 // free places in list
}

// place finds room. What was there before is still there.
func (t *table[T]) place() int32 {
	if n := len(t.room); n > 0 {
		i := t.room[n-1]
		t.room = t.room[:n-1]
		return i
	}
	t.list = append(t.list, *new(T))
	return int32(len(t.list) - 1)
}

// release gives a place to others.
func (t *table[T]) release(i int32) { t.room = append(t.room, i) }
