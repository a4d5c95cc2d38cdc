package demo

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// ErrOptions says that an option is out of range; the message says which.
var ErrOptions = errors.New("demo options")

// Bounds of the options: beyond them one machine shows nothing any more.
const (
	MinMembers = 2
	// MaxMembers bounds the processes. Each needs about 10 MB of memory, and three
	// descriptors of the demo itself: this many stay below 6 GB and 4,096 descriptors,
	// a usual limit. Larger groups are for the simulator.
	MaxMembers = 512
	MaxLoss    = 0.9
	MaxDelay   = 10 * time.Second
	// minOperation is the shortest operation that is longer than starting a
	// process.
	minOperation = 10 * time.Millisecond
	minCrash     = 200 * time.Millisecond
	// DefaultAway is how long a killed member stays away: as long as a supervisor
	// needs to start it again. It is too short for others to suspect it.
	DefaultAway = 300 * time.Millisecond
)

// Who is killed.
const (
	VictimAny    = "any"    // a random member
	VictimHolder = "holder" // one that holds a token
)

// Options say what to run.
type Options struct {
	Members       int
	For           time.Duration
	OperationTime time.Duration
	Loss          float64       // share of datagrams lost, each way
	Delay         time.Duration // one way; up to a quarter more at random, which reorders
	Crash         time.Duration // how often a member is killed; 0: never
	Victim        string        // VictimAny or VictimHolder; empty: any
	Away          time.Duration // how long a killed member stays away; 0: DefaultAway
	Volatile      bool
	Policy        string // one of catalog.Names
	Preset        string // one of the policy's; empty: its first
	Dir           string // where keys, logs and journals go; empty: a new temporary folder
	Program       string // the wander binary that members run
}

// validate returns the first option that is out of range.
func (o Options) validate() error {
	switch {
	case o.Members < MinMembers || o.Members > MaxMembers:
		return fmt.Errorf("%w: %d members, must be %d to %d", ErrOptions, o.Members, MinMembers, MaxMembers)
	case o.For <= 0:
		return fmt.Errorf("%w: a run of %v, must be greater than 0", ErrOptions, o.For)
	case o.OperationTime < minOperation:
		return fmt.Errorf("%w: an operation of %v, must be at least %v", ErrOptions, o.OperationTime, minOperation)
	case o.Loss > 1 && o.Loss <= 100*MaxLoss:
		return fmt.Errorf("%w: loss of %.0f%%: write %g%% or %g", ErrOptions, 100*o.Loss, o.Loss, o.Loss/100)
	case o.Loss < 0 || o.Loss > MaxLoss:
		return fmt.Errorf("%w: loss of %.0f%%, must be 0%% to %.0f%%", ErrOptions, 100*o.Loss, 100*MaxLoss)
	case o.Delay < 0 || o.Delay > MaxDelay:
		return fmt.Errorf("%w: a delay of %v, must be 0 to %v", ErrOptions, o.Delay, MaxDelay)
	case o.Crash != 0 && o.Crash < minCrash:
		return fmt.Errorf("%w: a crash every %v, must be at least %v", ErrOptions, o.Crash, minCrash)
	case o.Victim != "" && o.Victim != VictimAny && o.Victim != VictimHolder:
		return fmt.Errorf("%w: victim %q, must be %s or %s", ErrOptions, o.Victim, VictimAny, VictimHolder)
	case o.Away < 0 || o.Crash != 0 && o.Away > DefaultAway && o.Away >= o.Crash:
		return fmt.Errorf("%w: away for %v with a crash every %v: a killed member must restart before the next one is killed", ErrOptions, o.Away, o.Crash)
	}
	if err := catalog.Check(o.Policy, o.params()); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return nil
}

// preset is the preset in force.
func (o Options) preset() string {
	if o.Preset == "" {
		return catalog.Presets(o.Policy)[0].Name
	}
	return o.Preset
}

// nameOf is the name of the i-th member, from 0 on. All names of a run are equally
// long, so that they sort by number.
func (o Options) nameOf(i int) string {
	return fmt.Sprintf("m%0*d", max(2, len(strconv.Itoa(o.Members))), i+1)
}

// relayed reports whether a relay stands between the members.
func (o Options) relayed() bool { return o.Loss > 0 || o.Delay > 0 }
