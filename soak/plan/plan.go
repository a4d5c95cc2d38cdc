package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Plan is one run.
type Plan struct {
	Name      string        `json:"name"`
	Seed      uint64        `json:"seed"`
	For       time.Duration `json:"for"`  // from the moment when all members are up
	Calm      time.Duration `json:"calm"` // its last part, without faults
	Silence   time.Duration `json:"silence"`
	Adjacent  bool          `json:"adjacent,omitempty"` // the members that only dial out are others: as many that follow each other in the order of ids
	Long      bool          `json:"long,omitempty"`     // no program is short against its grant
	Resources []Resource    `json:"resources"`
	Members   []Member      `json:"members"`
	Steps     []Step        `json:"steps"` // in the order of At
}

// Resource is what the group shares.
type Resource struct {
	Name          string        `json:"name"`
	Policy        string        `json:"policy"`
	Preset        string        `json:"preset"`
	Slots         int           `json:"slots"`
	OperationTime time.Duration `json:"operation_time"`
	MaxHold       time.Duration `json:"max_hold"`
	MinInterval   time.Duration `json:"min_interval"` // 0: the policy's own
	TargetEvery   time.Duration `json:"target_every"` // 0: the policy has none
	Several       bool          `json:"several"`      // several tokens for a slot are as it should be
	MaxStall      time.Duration `json:"max_stall"`    // limit of the time with somebody waiting and nobody running; 0: none
	MaxTurn       int           `json:"max_turn"`     // limit of the programs of one member in a row while another one waits; 0: none
	MaxTokens     int           `json:"max_tokens"`   // limit of the tokens made; 0: none
	Alone         bool          `json:"alone"`        // no two programs may run at once
	OnIsolated    string        `json:"on_isolated,omitempty"`
	MaxSide       time.Duration `json:"max_side"`   // as MaxStall, on a side of a cut on which programs can have votes; 0: MaxStall
	Beside        bool          `json:"beside"`     // two programs must run at once now and then: otherwise the plan shows nothing
	MaxUneven     float64       `json:"max_uneven"` // limit of the mean of the programs of those who always want, over the fewest of one of them; 0: none
}

// Member is one member and what it wants.
type Member struct {
	Name      string   `json:"name"`
	Volatile  bool     `json:"volatile"`
	DialOnly  bool     `json:"dial_only"`
	SmallDisk bool     `json:"small_disk"` // its state is on a file system of its own, which can be filled
	Demands   []Demand `json:"demands"`
}

// Demand is a resource that a member wants again and again.
type Demand struct {
	Resource string        `json:"resource"`
	Daemon   bool          `json:"daemon"` // by the daemon's own operation, not by wander run
	Pause    time.Duration `json:"pause"`  // mean time between two of wander run; 0: none
}

// Fault is a kind of step.
type Fault string

// The faults.
const (
	Kill        Fault = "kill"         // SIGKILL of the daemon; it is started again afterwards
	Restart     Fault = "restart"      // the daemon is told to stop, and is started again afterwards
	Pause       Fault = "pause"        // SIGSTOP of the daemon
	PauseRunner Fault = "pause-runner" // SIGSTOP of the wander run whose program runs
	KillRunner  Fault = "kill-runner"  // SIGKILL of the wander run whose program runs
	Freeze      Fault = "freeze"       // SIGSTOP of all processes of the machine
	Power       Fault = "power"        // SIGKILL of all processes of the machine
	Cut         Fault = "cut"          // the machine is cut off from all others
	OneWay      Fault = "one-way"      // what the machine sends is lost, what it is sent is not
	Split       Fault = "split"        // the machines in Members are cut off from the others
	Part        Fault = "part"         // the first machine in Members is cut off from the other ones in it
	PartOneWay  Fault = "part-one-way" // what the first machine in Members is sent by the other ones in it is lost
	Deaf        Fault = "deaf"         // what the machine is sent is lost, what it sends is not
	Full        Fault = "full"         // the disk with the member's state is full; the daemon ends, or is stopped, and is started again afterwards
	OldCopy     Fault = "old-copy"     // the journal is copied; afterwards the daemon is killed, the copy is put back, and it is started again
	CutTail     Fault = "cut-tail"     // SIGKILL of the daemon, and Bytes are cut off its journal; it is started again afterwards
	Clone       Fault = "clone"        // a second daemon runs in a copy of the member's folder
	Twin        Fault = "twin"         // a second daemon goes on with a copy of the member's journal, on another machine that seems the same
	Lossy       Fault = "lossy"        // all paths lose a share of the packets, and delay the others
)

// Step is one fault. It lasts from At for For; then it is undone.
type Step struct {
	At     time.Duration `json:"at"`
	For    time.Duration `json:"for"`
	Fault  Fault         `json:"fault"`
	Holder string        `json:"holder,omitempty"` // a resource: who runs it at that moment is meant, if anybody does and no fault has hit it yet
	Member []int         `json:"member,omitempty"` // otherwise these, by their places in Plan.Members
	Keeper bool          `json:"keeper,omitempty"` // Part: of Holder's token, and it is cut off from; Split: it is on the other side than the holder
	Voter  Voter         `json:"voter,omitempty"`  // where the member is that votes under Holder, by on_isolated = "stop"
	Loss   float64       `json:"loss,omitempty"`   // Lossy only
	Delay  time.Duration `json:"delay,omitempty"`  // Lossy only
	Bytes  int64         `json:"bytes,omitempty"`  // CutTail only
}

// Voter says where a fault leaves the member that votes.
type Voter string

// Where the voter is.
const (
	Apart   Voter = "apart"   // parted from the holder, which hears nothing of it where only one direction is cut
	Unheard Voter = "unheard" // PartOneWay: it hears nothing of the holder
	Along   Voter = "along"   // Split: on the holder's side
	Hit     Voter = "hit"     // it is hit, and not the holder
)

// String is one line for people.
func (s Step) String() string {
	whom := fmt.Sprint(s.Member)
	if s.Holder != "" {
		whom = "holder of " + s.Holder + ", or " + whom
	}
	if s.Voter != "" {
		whom += ", voter " + string(s.Voter)
	}
	return fmt.Sprintf("%v %s %s for %v", s.At.Round(time.Millisecond), s.Fault, whom, s.For.Round(time.Millisecond))
}

// Options are what a plan is made for.
type Options struct {
	Seed    uint64
	Members int
	For     time.Duration
	Silence time.Duration // of the group; 0: DefaultSilence
}

// DefaultSilence is that of a group whose configuration does not have one.
const DefaultSilence = 4 * time.Second

// Bounds of Options.
const (
	minMembers = 2
	maxMembers = 64 // real processes: about 20 each at full demand
	minFor     = 10 * time.Second
	maxFor     = 24 * time.Hour
)

// Errors of Make.
var (
	ErrUnknown = errors.New("no such plan")
	ErrOptions = errors.New("the plan cannot be made")
)

// plans fill in the resources with their limits, what the members want, and the
// steps.
var plans = map[string]func(*maker){
	"calm":      (*maker).group,
	"clone":     (*maker).clone,
	"cut":       (*maker).cut,
	"dial-only": (*maker).dialOnly,
	"dial-two":  (*maker).dialTwo,
	"half-dead": (*maker).halfDead,
	"mixed":     (*maker).mixed,
	"quiet":     (*maker).quiet,
	"rollback":  (*maker).rollback,
	"votes":     (*maker).votes,
}

// Names are those of the plans.
func Names() []string { return slices.Sorted(maps.Keys(plans)) }

// Make makes a plan.
func Make(name string, o Options) (Plan, error) {
	fill, known := plans[name]
	switch {
	case !known:
		return Plan{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	case o.Members < minMembers || o.Members > maxMembers:
		return Plan{}, fmt.Errorf("%w: %d members, must be %d to %d", ErrOptions, o.Members, minMembers, maxMembers)
	case o.For < minFor || o.For > maxFor:
		return Plan{}, fmt.Errorf("%w: %v, permitted are %v to %v", ErrOptions, o.For, minFor, maxFor)
	case o.Silence < 0:
		return Plan{}, fmt.Errorf("%w: a silence of %v", ErrOptions, o.Silence)
	}
	m := newMaker(name, o)
	fill(m)
	return m.plan, nil
}

// forgetful reports whether the fault makes a member lose its tokens.
func (f Fault) forgetful() bool { return f == OldCopy || f == CutTail || f == Clone || f == Twin }

// Forgetful are the members that a fault makes lose their tokens.
func (p Plan) Forgetful() (names []string) {
	for i, m := range p.Members {
		if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Fault.forgetful() && s.Member[0] == i }) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Single reports whether no other step is in effect during one.
func (p Plan) Single(s Step) bool {
	n := 0
	for _, o := range p.Steps {
		if o.At <= s.At+s.For && s.At <= o.At+o.For {
			n++
		}
	}
	return n <= 1
}

// Resource is the resource of that name, or the zero value.
func (p Plan) Resource(name string) Resource {
	at := slices.IndexFunc(p.Resources, func(r Resource) bool { return r.Name == name })
	if at < 0 {
		return Resource{}
	}
	return p.Resources[at]
}

// Always are the members that want a resource all the time, by wander run.
func (p Plan) Always(resource string) (members []string) {
	for _, m := range p.Members {
		if slices.Contains(m.Demands, Demand{Resource: resource}) {
			members = append(members, m.Name)
		}
	}
	return members
}
