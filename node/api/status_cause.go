package api

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Why is why nothing runs, in one word and in one sentence, or that something does.
type Why struct {
	Cause    Cause    `json:"cause"`
	Sentence string   `json:"sentence"`
	SinceS   *float64 `json:"since_s"` // for how long it has been so; nil: not known
}

// Cause is why nothing runs, by a word that does not change. docs/troubleshooting.md has a section for each.
type Cause string

// LinkStatus is what this member knows of the way to the others.
type LinkStatus struct {
	LastHeardS  *float64 `json:"last_heard_s"`  // since anything came from another member; nil: nothing has
	Unanswered  uint64   `json:"unanswered"`    // dials that reached nobody, since anything came
	Silent      bool     `json:"silent"`        // all of these had no answer of any kind
	SilentS     float64  `json:"silent_s"`      // for how long no peer has answered although each that is connected, or one that is not, was asked; 0: not so
	Isolated    bool     `json:"isolated"`      // no member is connected, none was heard of for 15 s or ever, and a dial since then reached nobody
	Others      int      `json:"others"`        // members that it knows
	NobodyLeft  bool     `json:"nobody_left"`   // and no other member that it knows takes part any more
	NoAddresses bool     `json:"no_addresses"`  // and this member only dials out, as do all others that it knows
	ClockAheadS float64  `json:"clock_ahead_s"` // of the median of the peers' clocks
}

// HolderStatus is which member has a token, as far as this one knows.
type HolderStatus struct {
	Member ident.Member `json:"member"`
	Name   string       `json:"name"`
	Hop    uint64       `json:"hop"`
	Fence  uint64       `json:"fence,string,omitempty"` // of a program under it; 0: not known
	// How it is known: here, told by the member By, said by the holder itself, or proved by
	// the holder's receipt.
	How    How          `json:"how"`
	By     ident.Member `json:"by"`
	ByName string       `json:"by_name"`
	AgeS   float64      `json:"age_s"` // of that knowledge
	// SinceS is for how long this member has known, at least, that the token is there; nil if it is here.
	SinceS *float64 `json:"since_s"`
	// ProgramS is for how long a program has run there, at least, and ProgramEndsS is after what time at the latest
	// it ends.
	ProgramS     *float64 `json:"program_s"`
	ProgramEndsS *float64 `json:"program_ends_s"`
	// AwayS is for how long the holder may yet say nothing while its machine restarts, as it has said.
	AwayS *float64 `json:"away_s"`
}

// How is how a member knows which one has a token.
type How string

// How a member knows it.
const (
	Here   How = "here"   // it is this one
	Told   How = "told"   // another member has said so
	Said   How = "said"   // the holder has said so itself
	Proved How = "proved" // this member passed it there, and has the holder's signed receipt
)

// EtaStatus predicts when a token comes.
type EtaStatus struct {
	P50S   float64 `json:"p50_s"`
	P95S   float64 `json:"p95_s"`
	Basis  string  `json:"basis"`  // order or returns: see package forecast
	Before int     `json:"before"` // members that have waited longer, of order

	// Overdue is that the present turn takes longer than 19 of 20 of late: nobody can say when it ends, and the times count from then.
	Overdue bool `json:"overdue"`
}

// LongStatus is a turn that takes much longer than those of late: its program may hang.
type LongStatus struct {
	TookS  float64 `json:"took_s"`  // at least
	UsualS float64 `json:"usual_s"` // half of the turns of late took no longer
}

// SearchStatus is what this member does about a token that is missing.
type SearchStatus struct {
	Stage string   `json:"stage"` // asking or lost
	DueS  *float64 `json:"due_s"` // lost: after what time it is replaced, as far as is known now
}

// AgeOf is a time as an age in seconds.
func AgeOf(d time.Duration) *float64 {
	s := max(0, d.Seconds())
	return &s
}
