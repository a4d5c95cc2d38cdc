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

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// MaxWeight bounds a weight: a class that is to have more than a hundred times the turns of another
	// one needs a resource of its own.
	MaxWeight = 100
	// MaxWeights bounds the classes that a resource names: as many as people can tell apart, and as a
	// configuration has room for in each of its resources.
	MaxWeights = 16
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

// MakeWeights makes the weights of these classes. Errors: ErrOutOfRange for a weight that cannot be one or for
// too many classes, ident.ErrClass.
func MakeWeights(of map[string]int) (Weights, error) {
	if len(of) > MaxWeights {
		return Weights{}, fmt.Errorf("%w: weights name %d classes, permitted are %d", ErrOutOfRange, len(of), MaxWeights)
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(of)) {
		if err := ident.CheckClass(class); err != nil {
			return Weights{}, fmt.Errorf("weights: %w", err)
		}
		if w := of[class]; w < OrdinaryWeight || w > MaxWeight {
			return Weights{}, fmt.Errorf("%w: the weight of class %s is %d, permitted are %d to %d", ErrOutOfRange, class, w, OrdinaryWeight, MaxWeight)
		}
		parts = append(parts, class+"="+strconv.Itoa(of[class]))
	}
	return Weights{strings.Join(parts, ",")}, nil
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

// UnmarshalText reads what people write: CLASS=WEIGHT, with commas between them, in any order. Errors: those of MakeWeights.
func (w *Weights) UnmarshalText(text []byte) (err error) {
	of := make(map[string]int)
	for part := range strings.SplitSeq(string(text), ",") {
		class, number, there := strings.Cut(part, "=")
		class = strings.TrimSpace(class)
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if _, twice := of[class]; err != nil || !there || twice {
			return fmt.Errorf("%w: weights are %q, must be such as \"backup=5, web=2\", each class once", ErrOutOfRange, text)
		}
		of[class] = n
	}
	*w, err = MakeWeights(of)
	return err
}

// Of is the weight of the members of a class: OrdinaryWeight if it is not named.
func (w Weights) Of(class string) int { return cmp.Or(w.Map()[class], OrdinaryWeight) }

// String is the form in which people write them.
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
