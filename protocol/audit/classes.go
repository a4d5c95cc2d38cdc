package audit

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/policy"
)

// weights are those that the newest configuration gives the classes of members in a resource.
func (t *Trust) weights(resource string) (w policy.Weights) {
	newest := uint64(0)
	for _, c := range t.configs {
		for _, r := range c.Resources {
			if r.Name == resource && c.Version >= newest {
				w, newest = r.Weights, c.Version
			}
		}
	}
	return w
}

// classes sums up what the classes of members had of a resource that weighs them.
func (sm *summary) classes(r *Resource) {
	weights := sm.trust.weights(r.Name)
	if weights.IsZero() {
		return
	}
	of := make(map[string]*ClassShare)
	asked := make(map[string]float64)
	all, total := 0, 0.0
	for _, m := range sortedMembers(sm.journals) {
		s, class := r.share(m), sm.trust.class(m)
		if s.Operations == 0 && s.Present == 0 {
			continue
		}
		c := of[class]
		if c == nil {
			c = &ClassShare{Class: class, Weight: weights.Of(class)}
			of[class] = c
		}
		c.Members++
		c.Operations += s.Operations
		all += s.Operations
		due := float64(c.Weight) * float64(s.Present)
		asked[class] += due
		total += due
	}
	for _, class := range slices.Sorted(maps.Keys(of)) {
		c := of[class]
		if all > 0 {
			c.Share = float64(c.Operations) / float64(all)
		}
		if total > 0 {
			c.Asked = asked[class] / total
		}
		r.Classes = append(r.Classes, *c)
	}
}
