package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Baton is what travels on the token. The zero value is a token at rest about
// which nothing is known. A comparable value.
type Baton struct {
	// Active is D's state: searching for a request. False is "check".
	Active bool
	// Count is Q's counter of requests that were registered and not yet
	// served, and D's and E's number of hops that remain.
	Count uint32
	// Idle is Q's number of hops since a request was registered or served. The
	// paper has no such field. Without faults it stays below n.
	Idle uint32
}

// batonSize is the length of a baton on the wire, in bytes.
const batonSize = 9

// ErrBaton is why bytes are not a baton: length or state are wrong. Counters
// are not checked, as nobody knows the sender's size of the ring: who takes
// the baton clips them.
var ErrBaton = errors.New("malformed ring baton")

// AppendBaton appends the baton's bytes: the state (0 check, 1 active), Count
// and Idle, both big-endian in 4 bytes.
func AppendBaton(to []byte, b Baton) []byte {
	var state byte
	if b.Active {
		state = 1
	}
	to = append(to, state)
	to = binary.BigEndian.AppendUint32(to, b.Count)
	return binary.BigEndian.AppendUint32(to, b.Idle)
}

// ParseBaton reads what AppendBaton writes, and nothing else. Error: ErrBaton.
func ParseBaton(from []byte) (Baton, error) {
	if len(from) != batonSize {
		return Baton{}, fmt.Errorf("%w: %d bytes instead of %d", ErrBaton, len(from), batonSize)
	}
	if from[0] > 1 {
		return Baton{}, fmt.Errorf("%w: state %d", ErrBaton, from[0])
	}
	return Baton{
		Active: from[0] == 1,
		Count:  binary.BigEndian.Uint32(from[1:]),
		Idle:   binary.BigEndian.Uint32(from[5:]),
	}, nil
}

// awake is the baton of a token that replaces a lost one: nobody knows who
// waits for it, so it visits all the others once. Tell it with Return.
func awake(alg Algorithm, n int) Baton {
	if alg == S {
		return Baton{}
	}
	return Baton{Active: rulesOf[alg].active, Count: others(n)}
}

// clip bounds what a sender may claim. At most n-1 others can be registered, or
// have to be visited; Idle above n means the same as n.
func (b Baton) clip(n int) Baton {
	b.Count = min(b.Count, others(n))
	b.Idle = min(b.Idle, others(n)+1)
	return b
}

// merge makes one token of two: it goes as far as either would.
func (b *Baton) merge(other Baton) {
	b.Active = b.Active || other.Active
	b.Count = max(b.Count, other.Count)
	b.Idle = min(b.Idle, other.Idle)
}
