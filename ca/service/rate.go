package service

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"
)

// bucket is a token bucket.
type bucket struct {
	tokens float64
	last   time.Time
}

// rate is what fills a bucket: tokens per second, and how many at most.
type rate struct{ perSecond, burst float64 }

// take takes a token, or reports how long it is until there is one.
func (r rate) take(b *bucket, now time.Time) (wait time.Duration) {
	if b.last.IsZero() {
		b.tokens = r.burst
	} else if passed := now.Sub(b.last).Seconds(); passed > 0 {
		b.tokens = min(r.burst, b.tokens+passed*r.perSecond)
	}
	b.last = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) / r.perSecond * float64(time.Second))
	}
	b.tokens--
	return 0
}

// buckets are those of many who are told apart by a key. They are safe for
// concurrent use.
type buckets[K comparable] struct {
	rate rate

	mu    sync.Mutex
	byKey map[K]*list.Element
	order list.List // of *held[K], the one that was asked for last first
}

type held[K comparable] struct {
	key K
	bucket
}

func newBuckets[K comparable](r rate) *buckets[K] {
	return &buckets[K]{rate: r, byKey: make(map[K]*list.Element)}
}

func (b *buckets[K]) take(key K, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.byKey[key]
	if e == nil {
		if b.order.Len() >= maxBuckets {
			oldest := b.order.Back()
			delete(b.byKey, oldest.Value.(*held[K]).key)
			b.order.Remove(oldest)
		}
		e = b.order.PushFront(&held[K]{key: key})
		b.byKey[key] = e
	}
	b.order.MoveToFront(e)
	return b.rate.take(&e.Value.(*held[K]).bucket, now)
}

// single is one bucket, safe for concurrent use.
type single struct {
	rate rate
	mu   sync.Mutex
	bucket
}

func (s *single) take(now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate.take(&s.bucket, now)
}

// networkOf is what counts as one address: whoever has one IPv6 address has the
// 2^64 of its network.
func networkOf(a net.Addr) netip.Prefix {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{} // no IP: all of them together
	}
	ip := ap.Addr().Unmap().WithZone("")
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits)
	return prefix
}
