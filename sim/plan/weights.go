package plan

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/policy"
)

// SetWeights divides the members into as many equal parts as there are weights. Errors: ErrWeights, and those of
// policy.MakeWeights.
func (r *Request) SetWeights(weights []int) (err error) {
	if len(weights) > policy.MaxWeights || len(weights) > r.Members {
		return tooManyWeights(len(weights))
	}
	r.Shares = nil
	of := make(map[string]int)
	for i, w := range weights {
		class := fmt.Sprintf("class-%d", i+1)
		of[class] = w
		r.Shares = append(r.Shares, policy.ClassWeight{Class: class, Weight: w})
	}
	r.Params.Weights, err = policy.MakeWeights(of)
	return err
}

// SetClasses divides the members into as many equal parts as a resource names classes, if it names any. Error: ErrWeights.
func (r *Request) SetClasses(weights policy.Weights) error {
	r.Shares, r.Params.Weights = weights.List(), weights
	if len(r.Shares) > r.Members {
		return tooManyWeights(len(r.Shares))
	}
	return nil
}

func tooManyWeights(n int) error {
	return fmt.Errorf("%w: %d weights, permitted are %d, and one for each member", ErrWeights, n, policy.MaxWeights)
}

// membersOf is how many members have the class with an index: they take turns (circulation.Config.Classes).
func (r *Request) membersOf(class int) int {
	k := len(r.Shares)
	return (r.Members - class + k - 1) / k
}

// allWeights is the sum of the weights of all members.
func (r *Request) allWeights() (sum int) {
	for i, s := range r.Shares {
		sum += s.Weight * r.membersOf(i)
	}
	return sum
}

// slowest is how many rounds it takes until a member of the least weight is served again.
func (r *Request) slowest() float64 {
	if len(r.Shares) == 0 {
		return 1
	}
	least := slices.MinFunc(r.Shares, func(a, b policy.ClassWeight) int { return a.Weight - b.Weight })
	return float64(r.allWeights()) / float64(least.Weight*r.Members)
}

// shares are the parts of the classes that ran so many operations.
func (r *Request) shares(ran []uint64) (list []ClassShare) {
	all := uint64(0)
	for _, n := range ran {
		all += n
	}
	for i, s := range r.Shares {
		c := ClassShare{
			Class: s.Class, Weight: s.Weight, Members: r.membersOf(i),
			Asked: float64(s.Weight*r.membersOf(i)) / float64(r.allWeights()),
		}
		if all > 0 {
			c.Share = float64(ran[i]) / float64(all)
		}
		list = append(list, c)
	}
	return list
}

// sum adds two lists of counts.
func sum(a, b []uint64) []uint64 {
	if a == nil {
		return slices.Clone(b)
	}
	for i, n := range b {
		a[i] += n
	}
	return a
}
