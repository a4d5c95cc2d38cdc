package gate

import (
	"fmt"
	"iter"
	"time"

	"github.com/wandertoken/wander/protocol/window"
)

const (
	// MaxSlots is how many places a gate has at most, those of all slots together: as many as a resource has slots.
	MaxSlots = 64

	// MaxAhead is how many numbers above the last durable one a gate gives before their records are durable. So many are passed over at each start. All places can
	// begin a session at once.
	MaxAhead = MaxSlots
	// MaxNumber is the greatest number of a session: numbers never wrap, and a resource can keep one in a signed
	// integer. A gate that has given it opens nothing more.
	MaxNumber = 1<<63 - 1

	// MaxWaiters is how many wait at one slot. Of more, those that were served last make room, and
	// they would be the last to open. A waiter costs a connection and an answer at each session.
	MaxWaiters = 8

	// maxMembers is how many members the gate remembers: as many as a directory of the default
	// size. The one that was served longest ago is forgotten, and then counts as one that never was.
	maxMembers = 4096

	// MaxTitles is how many titles the gate remembers of each member, used or given away. A title is
	// forgotten after 64 others of its member. One session can note three of them: that under which it opens, and two that
	// the same member's signatures give away. A member that mints tokens gains as much.
	MaxTitles = 64

	// MaxTokens is how many tokens of one generator the gate knows: two live at once now and then, and
	// a liar's many push out its own.
	MaxTokens = 16

	// Ration is how many new tokens of one generator may open at once, and besides how many that one member presents. Two that
	// replace a lost one are usual.
	Ration = 4

	// RationInterval is after how long one more may. A group makes a token for each loss, and
	// losses are minutes apart.
	RationInterval = time.Minute

	// MaxRevoked is how many revoked members the gate remembers: sixteen times the members of a directory, since
	// revocations never end. A gate that hears of more refuses all.
	MaxRevoked = 1 << 16

	// viewInterval is how often one member may cause a Fetch, and how often it is sent the configuration: 256 KiB each ten
	// seconds are 26 kB/s.
	viewInterval = 10 * time.Second

	// clockWindow is within what time two members have to show tokens of the future for an alarm about the gate's clock, and
	// how long the next such alarm waits.
	clockWindow = 10 * time.Minute

	// minPause is how late a Tick has to come that the gate takes it for a pause, in which a hook may have paused
	// too. A driver on a busy machine is late by milliseconds.
	minPause = time.Second

	// SlowClose is after how long a close hook that runs is an alarm of its own: nothing opens meanwhile. The design's target is
	// 5 s, of which one is for a driver that is late. Close hooks of databases take a second.
	SlowClose = 4 * time.Second

	// freeHops is how many hops a token may have made at once, as in the handoff; for each
	// millisecond since its birth there is one more.
	freeHops = 1 << 20

	// clockLook is how often a gate looks at its wall clock while somebody is in, or waits, at a resource that has windows. Nobody tells it when the
	// clock is set. So a session goes on for no longer than that outside the windows.
	clockLook = 10 * time.Second
)

// Settings are what the group's configuration says about the gate. Zero durations are permitted, but for
// MaxHold, OpenTimeout and CloseTimeout.
type Settings struct {
	Version          uint64         // of the configuration
	Slots            int            // of the resource
	Sessions         int            // places of each slot, MaxSlots over all; 0 is 1
	MaxHold          time.Duration  // longest session
	Settle           time.Duration  // from the confirmation of close until something may open
	Keep             time.Duration  // how long the slot is kept for the linked successor
	MinInterval      time.Duration  // of one member, from the end of a session to the next one
	OpenTimeout      time.Duration  // of the open hook
	CloseTimeout     time.Duration  // of the close hook; then the slot is stuck
	RevocationMaxAge time.Duration  // 0: revocations may be of any age
	ClockAllowance   time.Duration  // by which a genesis may be ahead
	Windows          window.Windows // when a session may be open; none: always
	Raw              []byte         // the signed configuration, for members that have an older one
}

// places is how many places the slots have together.
func (s Settings) places() int { return s.Slots * max(1, s.Sessions) }

// of are the places of a slot: its own number, and then each one as many further as there are slots. So more places of each slot leave the numbers of the
// others as they are.
func (s Settings) of(slot int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := slot; i < s.places() && yield(i); i += s.Slots {
		}
	}
}

func (s Settings) validate() error {
	if s.Slots <= 0 || s.Slots > MaxSlots || s.Sessions < 0 || s.places() > MaxSlots {
		return fmt.Errorf("%w: %d slots of %d places, permitted are 1 to %d in all", ErrSlots, s.Slots, s.Sessions, MaxSlots)
	}
	if s.MaxHold <= 0 || s.OpenTimeout <= 0 || s.CloseTimeout <= 0 || len(s.Windows) > window.Max {
		return ErrSettings
	}
	for _, d := range []time.Duration{s.Settle, s.Keep, s.MinInterval, s.RevocationMaxAge, s.ClockAllowance} {
		if d < 0 {
			return ErrSettings
		}
	}
	return nil
}
