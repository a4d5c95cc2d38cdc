package policy

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
)

// Quantity says what the number of a Parameter counts.
type Quantity uint8

// The quantities, with their unit in the group configuration.
const (
	Span        Quantity = iota + 1 // a time span in milliseconds
	Count                           // a number of things
	Thousandths                     // a ratio in thousandths
	Flag                            // 0 or 1
	Choice                          // one of Words, by its place among them
)

// Parameter describes one field of Params: its key and name in the group
// configuration, and its range. Preset, which is text, is not among them.
type Parameter struct {
	Key      uint64 // never given to another parameter
	Name     string
	Quantity Quantity
	// Optional parameters may be zero, which asks for the policy's default.
	Optional  bool
	low, high int64 // spans in nanoseconds
	field     func(*Params) any
}

// Parameters are all parameters in the order of their keys.
var Parameters = []Parameter{
	{1, "operation_time", Span, false, int64(MinDuration), int64(MaxOperationTime), func(p *Params) any { return &p.OperationTime }},
	{2, "members_max", Count, false, 1, MaxMembers, func(p *Params) any { return &p.MembersMax }},
	{3, "skip_delay", Span, false, int64(MinDuration), int64(MaxSkipDelay), func(p *Params) any { return &p.SkipDelay }},
	{4, "min_interval", Span, true, int64(MinDuration), int64(MaxInterval), func(p *Params) any { return &p.MinInterval }},
	{5, "regeneration_mean", Span, true, int64(MinDuration), int64(MaxInterval), func(p *Params) any { return &p.RegenerationMean }},
	{6, "max_interval", Span, true, int64(MinDuration), int64(MaxInterval), func(p *Params) any { return &p.MaxInterval }},
	{7, "target_interval", Span, true, int64(MinDuration), int64(MaxInterval), func(p *Params) any { return &p.TargetInterval }},
	{8, "interval_factor", Thousandths, true, MinRatio, MaxRatio, func(p *Params) any { return &p.IntervalFactor }},
	{9, "queue_capacity", Count, true, 1, MaxQueue, func(p *Params) any { return &p.QueueCapacity }},
	{10, "growth_factor", Thousandths, true, MinRatio, MaxRatio, func(p *Params) any { return &p.GrowthFactor }},
	{11, "decay_factor", Thousandths, true, 1, MinRatio, func(p *Params) any { return &p.DecayFactor }},
	{12, "generator_rests", Flag, true, 1, 1, func(p *Params) any { return &p.GeneratorRests }},
	{13, "request_timeout", Span, true, int64(MinDuration), int64(MaxInterval), func(p *Params) any { return &p.RequestTimeout }},
	{14, "on_silent_holder", Choice, true, int64(Replace), int64(Replace), func(p *Params) any { return &p.OnSilentHolder }},
}

// Wire is the parameter's number in the group configuration's unit. What is
// below that unit is lost.
func (p Parameter) Wire(of *Params) uint64 {
	n := uint64(p.number(of))
	if p.Quantity == Span {
		n /= uint64(time.Millisecond)
	}
	return n
}

// SetWire sets the parameter from the group configuration's number. It
// saturates, which no range permits.
func (p Parameter) SetWire(to *Params, n uint64) {
	if p.Quantity == Span {
		n = min(n, math.MaxInt64/uint64(time.Millisecond)) * uint64(time.Millisecond)
	}
	switch field := p.field(to).(type) {
	case *time.Duration:
		*field = time.Duration(n)
	case *int:
		*field = int(min(n, math.MaxInt32))
	case *Ratio:
		*field = Ratio(min(n, math.MaxInt32))
	case *bool:
		*field = n != 0
	case *SilentHolder:
		*field = SilentHolder(min(n, math.MaxUint8))
	}
}

// Words are those that a Choice is among, the default first; none otherwise.
func (p Parameter) Words() []string {
	if p.Quantity != Choice {
		return nil
	}
	return silentHolderWords // there is no other
}

// Word is the one of Words at a place, or that number as text where there is none.
func (p Parameter) Word(n uint64) string {
	if words := p.Words(); n < uint64(len(words)) {
		return words[n]
	}
	return strconv.FormatUint(n, 10)
}

// Range is the smallest and the largest number in the group configuration's
// unit that the parameter may have, beside the zero of an optional one.
func (p Parameter) Range() (low, high uint64) {
	if p.Quantity == Span {
		return uint64(p.low / int64(time.Millisecond)), uint64(p.high / int64(time.Millisecond))
	}
	return uint64(p.low), uint64(p.high)
}

// Whole reports whether Wire loses nothing.
func (p Parameter) Whole(of *Params) bool {
	return p.Quantity != Span || p.number(of)%int64(time.Millisecond) == 0
}

// number is the parameter's number, spans in nanoseconds.
func (p Parameter) number(of *Params) int64 {
	switch field := p.field(of).(type) {
	case *time.Duration:
		return int64(*field)
	case *int:
		return int64(*field)
	case *Ratio:
		return int64(*field)
	case *bool:
		if *field {
			return 1
		}
	case *SilentHolder:
		return int64(*field)
	}
	return 0
}

// check returns an ErrOutOfRange that names the parameter, its value and what
// is permitted.
func (p Parameter) check(of *Params) error {
	n := p.number(of)
	if n >= p.low && n <= p.high || n == 0 && p.Optional {
		return nil
	}
	permitted := fmt.Sprintf("%v to %v", p.text(p.low), p.text(p.high))
	switch {
	case p.Optional:
		permitted = "0 (derived) and " + permitted
	case n == 0:
		return fmt.Errorf("%w: %s is %v or missing, permitted are %s", ErrOutOfRange, p.Name, p.text(n), permitted)
	}
	return fmt.Errorf("%w: %s is %v, permitted are %s", ErrOutOfRange, p.Name, p.text(n), permitted)
}

// text is a number as people write it.
func (p Parameter) text(n int64) any {
	switch p.Quantity {
	case Choice:
		return p.Word(uint64(n))
	case Span:
		return duration.Format(time.Duration(n))
	case Thousandths:
		return Ratio(n).Float()
	}
	return n
}
