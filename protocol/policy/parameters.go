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

// Setting describes one field of a T that the group configuration has as a number: its
// key and name there, its range and its default. Files, flags, help and documents have it
// from here.
type Setting[T any] struct {
	Key      uint64 // of a parameter; never given to another one
	Name     string
	Quantity Quantity
	// Optional settings may be zero, which asks for the policy's default.
	Optional  bool
	Low, High int64 // spans in nanoseconds
	Default   int64 // what WithDefault sets; spans in nanoseconds
	// Field points to the field: a time.Duration, int, Ratio, bool or SilentHolder.
	Field func(*T) any
}

// Parameter is a Setting of Params. Preset, which is text, is not among them.
type Parameter = Setting[Params]

// Parameters are all parameters in the order of their keys.
var Parameters = []Parameter{
	{1, "operation_time", Span, false, int64(MinDuration), int64(MaxOperationTime), 0, func(p *Params) any { return &p.OperationTime }},
	{2, "members_max", Count, false, 1, MaxMembers, 0, func(p *Params) any { return &p.MembersMax }},
	{3, "skip_delay", Span, false, int64(MinDuration), int64(MaxSkipDelay), 0, func(p *Params) any { return &p.SkipDelay }},
	{4, "min_interval", Span, true, int64(MinDuration), int64(MaxInterval), 0, func(p *Params) any { return &p.MinInterval }},
	{5, "regeneration_mean", Span, true, int64(MinDuration), int64(MaxInterval), 0, func(p *Params) any { return &p.RegenerationMean }},
	{6, "max_interval", Span, true, int64(MinDuration), int64(MaxInterval), 0, func(p *Params) any { return &p.MaxInterval }},
	{7, "target_interval", Span, true, int64(MinDuration), int64(MaxInterval), 0, func(p *Params) any { return &p.TargetInterval }},
	{8, "interval_factor", Thousandths, true, MinRatio, MaxRatio, 0, func(p *Params) any { return &p.IntervalFactor }},
	{9, "queue_capacity", Count, true, 1, MaxQueue, 0, func(p *Params) any { return &p.QueueCapacity }},
	{10, "growth_factor", Thousandths, true, MinRatio, MaxRatio, 0, func(p *Params) any { return &p.GrowthFactor }},
	{11, "decay_factor", Thousandths, true, 1, MinRatio, 0, func(p *Params) any { return &p.DecayFactor }},
	{12, "generator_rests", Flag, true, 1, 1, 0, func(p *Params) any { return &p.GeneratorRests }},
	{13, "request_timeout", Span, true, int64(MinDuration), int64(MaxInterval), 0, func(p *Params) any { return &p.RequestTimeout }},
	{14, "on_silent_holder", Choice, true, int64(Replace), int64(Replace), 0, func(p *Params) any { return &p.OnSilentHolder }},
	{15, "timekeepers", Count, true, 1, MaxTimekeepers, 0, func(p *Params) any { return &p.Timekeepers }},
}

// unit is the group configuration's, of spans in nanoseconds.
func (p Setting[T]) unit() int64 {
	if p.Quantity == Span {
		return int64(time.Millisecond)
	}
	return 1
}

// Wire is the setting's number in the group configuration's unit. What is
// below that unit is lost.
func (p Setting[T]) Wire(of *T) uint64 { return uint64(p.number(of) / p.unit()) }

// SetWire sets the setting from the group configuration's number. It
// saturates, which no range permits.
func (p Setting[T]) SetWire(to *T, n uint64) {
	n = min(n, uint64(math.MaxInt64/p.unit())) * uint64(p.unit())
	switch field := p.Field(to).(type) {
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
func (p Setting[T]) Words() []string {
	if p.Quantity != Choice {
		return nil
	}
	return silentHolderWords // there is no other
}

// word is the one of Words at a place, or that number as text where there is none.
func (p Setting[T]) word(n uint64) string {
	if words := p.Words(); n < uint64(len(words)) {
		return words[n]
	}
	return strconv.FormatUint(n, 10)
}

// Range is the smallest and the largest number in the group configuration's
// unit that the setting may have, beside the zero of an optional one.
func (p Setting[T]) Range() (low, high uint64) {
	return uint64(p.Low / p.unit()), uint64(p.High / p.unit())
}

// Whole reports whether Wire loses nothing.
func (p Setting[T]) Whole(of *T) bool { return p.number(of)%p.unit() == 0 }

// number is the setting's number, spans in nanoseconds.
func (p Setting[T]) number(of *T) int64 {
	switch field := p.Field(of).(type) {
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

// WithDefault sets the setting to its default if it is zero.
func (p Setting[T]) WithDefault(to *T) {
	if p.number(to) == 0 {
		p.SetWire(to, uint64(p.Default/p.unit()))
	}
}

// Check returns an error outOfRange that names the setting, its value and what is
// permitted.
func (p Setting[T]) Check(of *T, outOfRange error) error {
	n := p.number(of)
	if n >= p.Low && n <= p.High || n == 0 && p.Optional {
		return nil
	}
	permitted := fmt.Sprintf("%v to %v", p.text(p.Low), p.text(p.High))
	switch {
	case p.Optional:
		permitted = "0 (derived) and " + permitted
	case n == 0 && p.Default == 0:
		return fmt.Errorf("%w: %s is %v or missing, permitted are %s", outOfRange, p.Name, p.text(n), permitted)
	}
	return fmt.Errorf("%w: %s is %v, permitted are %s", outOfRange, p.Name, p.text(n), permitted)
}

// Value is what the setting is, as people write it: text, a number or a bool.
func (p Setting[T]) Value(of *T) any { return p.text(p.number(of)) }

// Texts are the default and the ends of the range, as people write them.
func (p Setting[T]) Texts() (absent, low, high string) {
	return fmt.Sprint(p.text(p.Default)), fmt.Sprint(p.text(p.Low)), fmt.Sprint(p.text(p.High))
}

// text is a number as people write it.
func (p Setting[T]) text(n int64) any {
	switch p.Quantity {
	case Choice:
		return p.word(uint64(n))
	case Span:
		return duration.Format(time.Duration(n))
	case Thousandths:
		return Ratio(n).Float()
	case Flag:
		return n != 0
	}
	return n
}
