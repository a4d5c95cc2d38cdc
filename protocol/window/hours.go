package window

import "time"

// Hours say whether an operation may begin at a resource with windows (P-91), and until when that stays so. The zero value is a
// resource that is always open.
type Hours struct {
	Closed bool      // no operation begins
	Opens  time.Time // when operations may begin again while Closed is set; zero: as far as can be seen, never
	Closes time.Time // when the windows close that are open; zero: never, or they are closed
	From   time.Time // the first instant for which the Hours hold
	Until  time.Time // the first instant for which they no longer hold; zero: they hold for good
}

// Hours returns the hours at an instant, for operations of a length: none begins that would not end before the windows close.
func (l Windows) Hours(at time.Time, operation time.Duration) Hours {
	h := Hours{From: at}
	next, changes := l.NextChange(at)
	switch open := l.Open(at); {
	case open && !changes:
		return h
	case open:
		h.Closes, h.Until = next, next.Add(1-operation) // an operation that just fits may begin
		if at.Before(h.Until) {
			return h
		}
		h.Until = next
		h.Opens, _ = l.NextChange(next)
	default:
		h.Opens, h.Until = next, next
	}
	h.Closed = true
	return h
}

// Hold reports whether the Hours hold at an instant.
func (h *Hours) Hold(at time.Time) bool {
	return !at.Before(h.From) && (h.Until.IsZero() || at.Before(h.Until))
}
