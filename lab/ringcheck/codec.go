package ringcheck

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// MaxExplored is the largest ring that can be explored: what fits a key.
const MaxExplored = 10

// key is one state of the whole ring, turned so that the token is at position
// 0 or on the link that leaves it: rings that differ only in where they begin
// behave alike.
type key struct {
	stations [MaxExplored]uint8 // numbers given by codec
	links    [MaxExplored]uint8 // before + 16·behind
	baton    uint8              // number given by codec
	moving   bool
}

// maxOnLink is how many requests before, and behind, the token a key has room
// for.
const maxOnLink = 15

// codec numbers the different processors and batons as it meets them: there
// are few.
type codec struct {
	stations numbers[ring.Station]
	batons   numbers[ring.Baton]
}

// maxNumbers is how many different values one byte can tell apart.
const maxNumbers = 256

// numbers gives each value its number, from 0 on.
type numbers[T comparable] struct {
	of     map[T]uint8
	values []T
}

func (n *numbers[T]) number(v T) (uint8, error) {
	if i, known := n.of[v]; known {
		return i, nil
	}
	if len(n.values) == maxNumbers {
		return 0, fmt.Errorf("%w: more than %d", ErrVariety, maxNumbers)
	}
	if n.of == nil {
		n.of = map[T]uint8{}
	}
	i := uint8(len(n.values))
	n.of[v], n.values = i, append(n.values, v)
	return i, nil
}

// encode is the ring's key, and by how much it was turned: processor p of the
// ring is at position p-turned.
func (c *codec) encode(r *Ring) (k key, turned int, err error) {
	n := len(r.stations)
	for i := range n {
		p := (r.at + i) % n
		if k.stations[i], err = c.stations.number(r.stations[p]); err != nil {
			return k, 0, err
		}
		l := r.links[p]
		k.links[i] = l.before | l.behind<<4
	}
	if k.moving = r.moving; k.moving {
		k.baton, err = c.batons.number(r.baton)
	}
	return k, r.at, err
}

// decode makes the ring what the key says.
func (c *codec) decode(k *key, r *Ring) {
	for i := range r.stations {
		r.stations[i] = c.stations.values[k.stations[i]]
		r.links[i] = link{k.links[i] & 15, k.links[i] >> 4}
	}
	r.at, r.moving, r.baton = 0, k.moving, ring.Baton{}
	if k.moving {
		r.baton = c.batons.values[k.baton]
	}
}

// copyFrom makes r what other is; both have the same size.
func (r *Ring) copyFrom(other *Ring) {
	copy(r.stations, other.stations)
	copy(r.links, other.links)
	r.at, r.moving, r.baton = other.at, other.moving, other.baton
}
