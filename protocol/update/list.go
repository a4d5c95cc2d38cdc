package update

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// MaxPending bounds the updates that wait on a List. So many take half an hour to tell,
	// at one message a second with ten updates and twenty times for each: what
	// does not fit is known sooner from comparing directories. It is about half a
	// megabyte of usual updates, and 4 MB of the largest.
	MaxPending = 1024

	// MaxTake bounds the updates of one message together, in bytes, so that a
	// TRANSFER with all that it may need stays within a frame.
	MaxTake = 16 << 10

	// smallGroup is below how many members an update is told more often: there a
	// rumour that dies early misses a larger share, and costs less to go on.
	smallGroup = 1000

	// leastTimes is how often an update is told in the smallest group.
	leastTimes = 4
)

// Times is how often a member tells one update in a group of so many members: a
// multiple λ of the logarithm, as many contacts as it takes until everybody has
// heard of it, and some more. In simulations of 191 to 10,000 members joinings
// did not reach everybody with λ = 1, nearly always did with 1.5, and with 2 took
// no less time than with 4.
func Times(members int) int {
	lambda := 2.0
	if members < smallGroup {
		lambda = 3
	}
	return max(leastTimes, int(math.Ceil(lambda*math.Log(float64(max(members, 1))))))
}

// Key says what an update is about. Of two updates with one key the later one
// is the news.
type Key struct {
	Kind    Kind
	Subject ident.Member // who joined, left, failed or was revoked
	Witness ident.Member // failure: who says so; else zero
}

// List is what a member still has to tell. It is not safe for concurrent use.
// Equal calls on equal lists have equal results.
type List struct {
	queue   queue
	pending map[Key]*item
	added   uint64
}

// item is one update that waits.
type item struct {
	key   Key
	raw   []byte
	told  int    // how often this update was told
	rank  int    // the same, of all updates that had this key one after the other
	order uint64 // later ones are higher
	at    int    // where it is in the queue
}

// NewList is an empty list.
func NewList() *List { return &List{pending: make(map[Key]*item)} }

// Len is how many updates wait.
func (l *List) Len() int { return len(l.queue) }

// Add puts news on the list: an update that is encoded and verified, and was
// news to the member. The list keeps raw. It takes the place of what the list
// has under the same key, and is told as often as any other. But it does not go
// ahead of others that were told less often than its predecessors: so a member
// that signs one endpoint record after the other holds up nobody else's news.
//
// A leave or a revocation makes what else waits about the subject pointless. On
// a full list the update goes that was told most often, the oldest of them.
func (l *List) Add(key Key, raw []byte) {
	rank := 0
	if old := l.pending[key]; old != nil {
		if bytes.Equal(old.raw, raw) {
			return
		}
		rank = old.rank
		l.remove(old)
	}
	if key.Kind == KindLeave || key.Kind == KindRevocation {
		l.obsolete(key)
	}
	if len(l.queue) >= MaxPending {
		l.remove(slices.MaxFunc(l.queue, compare))
	}
	l.added++
	it := &item{key: key, raw: raw, rank: rank, order: l.added}
	l.pending[key] = it
	heap.Push(&l.queue, it)
}

// obsolete takes off the list what the end of a member makes pointless.
func (l *List) obsolete(end Key) {
	for _, it := range slices.Clone(l.queue) {
		if it.key.Subject == end.Subject && it.key.Kind != KindRevocation {
			l.remove(it)
		}
	}
}

func (l *List) remove(it *item) {
	heap.Remove(&l.queue, it.at)
	delete(l.pending, it.key)
}

// Take is what goes along with the next message, in a group of so many members:
// at most capacity updates and MaxTake bytes, those told least often first, of
// them the newest first. None of heard is among them: what the peer has just
// said itself. Each is counted as told, and leaves the list once it was told
// Times(members) times. The updates are not to be changed.
func (l *List) Take(capacity, members int, heard ...[]byte) [][]byte {
	var told, skipped []*item
	size := 0
	for len(told) < capacity && len(l.queue) > 0 {
		it := l.queue[0]
		if isIn(it.raw, heard) {
			skipped = append(skipped, heap.Pop(&l.queue).(*item))
			continue
		}
		if size += len(it.raw); size > MaxTake {
			break // the next message begins with it
		}
		told = append(told, heap.Pop(&l.queue).(*item))
	}
	for _, it := range skipped {
		heap.Push(&l.queue, it)
	}
	return l.count(told, Times(members))
}

func isIn(raw []byte, list [][]byte) bool {
	return slices.ContainsFunc(list, func(other []byte) bool { return bytes.Equal(raw, other) })
}

// count notes what was told, and puts back what is to be told again.
func (l *List) count(told []*item, times int) [][]byte {
	raws := make([][]byte, 0, len(told))
	for _, it := range told {
		raws = append(raws, it.raw)
		it.told++
		it.rank++
		if it.told < times {
			heap.Push(&l.queue, it)
		} else {
			delete(l.pending, it.key)
		}
	}
	return raws
}

// queue is a heap of items, see compare. It implements heap.Interface.
type queue []*item

// compare orders items as they are told.
func compare(a, b *item) int {
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Compare(b.order, a.order)
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return compare(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}

func (q *queue) Push(x any) {
	it := x.(*item)
	it.at = len(*q)
	*q = append(*q, it)
}

func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
