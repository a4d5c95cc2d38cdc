package transport

import "time"

// bucket is a token bucket. It is not safe for concurrent use.
type bucket struct {
	rate, burst float64 // tokens per second; at most
	tokens      float64
	last        time.Duration
}

func newBucket(rate, burst float64, now time.Duration) bucket {
	return bucket{rate: rate, burst: burst, tokens: burst, last: now}
}

func (b *bucket) refill(now time.Duration) {
	if now > b.last {
		b.tokens = min(b.burst, b.tokens+(now-b.last).Seconds()*b.rate)
		b.last = now
	}
}

// take takes one token, or reports false when there is none.
func (b *bucket) take(now time.Duration) bool {
	b.refill(now)
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// debt takes n tokens, there or not, and returns how long it is until none is
// owed.
func (b *bucket) debt(n float64, now time.Duration) time.Duration {
	b.refill(now)
	b.tokens -= n
	if b.tokens >= 0 {
		return 0
	}
	return time.Duration(-b.tokens / b.rate * float64(time.Second))
}

// isFull reports whether nothing was taken for a long time.
func (b *bucket) isFull(now time.Duration) bool {
	b.refill(now)
	return b.tokens >= b.burst
}
