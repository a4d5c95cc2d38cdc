package page

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/clock"
)

const (
	// sampleAge is how old a sample may be that a listener is given. It bounds what listeners cost the
	// member, however many there are.
	sampleAge = 200 * time.Millisecond
	// membersAge is the same of the list of members, which is long and changes seldom.
	membersAge = 2 * time.Second
)

// sample is the member at one moment, encoded.
type sample struct {
	status        json.RawMessage
	members       json.RawMessage
	membersNumber int // grows with each change of members
	overlaps      []overlap
	log           *history.Log
}

// feed samples a source for those who listen, and only when one of them asks.
type feed struct {
	source Source
	now    func() clock.Instant

	mu         sync.Mutex
	last       sample
	at, listed clock.Instant // of the last sample, and of its members; 0: none yet
}

// latest is the member as it is, or was a moment ago.
func (f *feed) latest() (sample, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	if f.at != 0 && now.Sub(f.at) < sampleAge {
		return f.last, nil
	}
	st := f.source.Status()
	st.V = api.Version
	status, err := json.Marshal(st)
	if err != nil {
		return sample{}, err
	}
	if f.listed == 0 || now.Sub(f.listed) >= membersAge {
		members, err := json.Marshal(f.source.Members())
		if err != nil {
			return sample{}, err
		}
		f.listed = now
		if !bytes.Equal(members, f.last.members) {
			f.last.members = members
			f.last.membersNumber++
		}
	}
	f.last.status, f.last.log, f.at = status, f.source.History(), now
	f.last.overlaps = overlapsOf(f.last.log, st.Resources, now)
	return f.last, nil
}
