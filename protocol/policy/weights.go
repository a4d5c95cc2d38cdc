package policy

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// MaxWeight bounds a weight: a class that is to have more than a hundred times the turns of another
	// one needs a resource of its own.
	MaxWeight = 100
	// MaxWeights bounds the classes that a resource names: as many as people can tell apart, and as a
	// configuration has room for in each of its resources.
	MaxWeights = 16
	// MaxClass bounds a class, in bytes: it is in certificates, tables and metric labels.
	MaxClass = 16
	// OrdinaryWeight is that of a member whose class a resource does not name.
	OrdinaryWeight = 1
)

// ClassWeight is how many times as often as a member of weight 1 a member of a class is served.
type ClassWeight struct {
	Class  string
	Weight int
}

// Weights are those of the classes of members that a resource names. The zero value names none. They can be
// compared with ==.
type Weights struct{ text string } // CLASS=WEIGHT, ascending by class, with commas between them

// MakeWeights makes the weights of these classes. Error: ErrOutOfRange for a class or a weight that cannot be
// one, or for too many.
func MakeWeights(of map[string]int) (Weights, error) {
	if len(of) > MaxWeights {
		return Weights{}, fmt.Errorf("%w: weights name %d classes, permitted are %d", ErrOutOfRange, len(of), MaxWeights)
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(of)) {
		if err := CheckClass(class); err != nil {
			return Weights{}, fmt.Errorf("weights: %w", err)
		}
		if w := of[class]; w < OrdinaryWeight || w > MaxWeight {
			return Weights{}, fmt.Errorf("%w: the weight of class %s is %d, permitted are %d to %d", ErrOutOfRange, class, w, OrdinaryWeight, MaxWeight)
		}
		parts = append(parts, class+"="+strconv.Itoa(of[class]))
	}
	return Weights{strings.Join(parts, ",")}, nil
}

// CheckClass returns ErrOutOfRange unless a name can be that of a class of members: 1 to MaxClass of a-z, 0-9 and '-'.
func CheckClass(class string) error {
	if len(class) == 0 || len(class) > MaxClass {
		return fmt.Errorf("%w: class %q has %d characters, permitted are 1 to %d", ErrOutOfRange, class[:min(len(class), MaxClass)], len(class), MaxClass)
	}
	for i := range len(class) {
		if b := class[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return fmt.Errorf("%w: class %q, permitted are a-z, 0-9 and '-'", ErrOutOfRange, class)
		}
	}
	return nil
}

// IsZero reports whether no class is named: all members have the same weight.
func (w Weights) IsZero() bool { return w.text == "" }

// List are the classes with their weights, ascending by class.
func (w Weights) List() (list []ClassWeight) {
	for part := range strings.SplitSeq(w.text, ",") {
		class, number, _ := strings.Cut(part, "=")
		if n, err := strconv.Atoi(number); err == nil {
			list = append(list, ClassWeight{class, n})
		}
	}
	return list
}

// Map are the weights by class. It is nil if no class is named.
func (w Weights) Map() map[string]int {
	if w.IsZero() {
		return nil
	}
	m := make(map[string]int)
	for _, c := range w.List() {
		m[c.Class] = c.Weight
	}
	return m
}

// Of is the weight of the members of a class: OrdinaryWeight if it is not named.
func (w Weights) Of(class string) int { return cmp.Or(w.Map()[class], OrdinaryWeight) }

// String is the form in which people are shown weights.
func (w Weights) String() string { return strings.ReplaceAll(w.text, ",", ", ") }

// Weighted is a wait as the preset fair compares it with others: multiplied by the weight. It saturates.
func Weighted(wait time.Duration, weight int) time.Duration {
	if wait > math.MaxInt64/time.Duration(weight) {
		return math.MaxInt64
	}
	if wait < 0 {
		return wait
	}
	return wait * time.Duration(weight)
}
