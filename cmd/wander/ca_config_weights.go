package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// sayWeights says what share of the turns each class of members gets where a resource weighs them, and what comes of a
// weight for which there is nobody, or which no member can get.
func sayWeights(env *environment, a *ca.Authority, s group.Settings) error {
	if !slices.ContainsFunc(s.Resources, func(r group.Resource) bool { return !r.Weights.IsZero() }) {
		return nil
	}
	list, err := a.List()
	if err != nil {
		return caError(err)
	}
	members := membersByClass(list)
	for _, r := range s.Resources {
		if !r.Weights.IsZero() {
			for _, text := range weightTexts(r, members) {
				fmt.Fprintf(env.Out, "%s: %s\n", r.Name, text)
			}
		}
	}
	return nil
}

// membersByClass is how many members have each class, as their newest certificates say.
func membersByClass(list ca.Listing) map[string]int {
	newest := make(map[ident.Member]ca.Record)
	for _, r := range list.Records { // by serial
		if r.Role == certificate.MemberRole && r.Revoked == nil && r.Left == nil {
			newest[r.Member] = r
		}
	}
	count := make(map[string]int)
	for _, r := range newest {
		count[r.Class]++
	}
	return count
}

// weightTexts are what a resource's weights come to with these members.
func weightTexts(r group.Resource, members map[string]int) (texts []string) {
	all := 0
	for class, n := range members {
		all += n * r.Weights.Of(class)
	}
	var shares []string
	named := r.Weights.List()
	for _, c := range named {
		n := members[c.Class]
		if n == 0 {
			texts = append(texts, fmt.Sprintf("no member has class %s yet: wander ca invite --class %s makes one", c.Class, c.Class))
			continue
		}
		shares = append(shares, fmt.Sprintf("%s %.1f %% (%s)", c.Class, 100*float64(n*c.Weight)/float64(all), counted.Of(n, "member")))
		if others := all - c.Weight; others > 0 && c.Weight > others {
			texts = append(texts, fmt.Sprintf("class %s has weight %d, and all other members have %d together: a member never gets more than half of the turns", c.Class, c.Weight, others))
		}
	}
	if others := othersThan(named, members); len(shares) > 0 && others > 0 {
		shares = append(shares, fmt.Sprintf("all others %.1f %% (%s)", 100*float64(others)/float64(all), counted.Of(others, "member")))
	}
	if len(shares) > 0 {
		texts = append([]string{"shares of the turns while all want: " + strings.Join(shares, ", ")}, texts...)
	}
	return texts
}

// othersThan is how many members are of none of these classes.
func othersThan(named []policy.ClassWeight, members map[string]int) (n int) {
	for class, k := range members {
		if !slices.ContainsFunc(named, func(c policy.ClassWeight) bool { return c.Class == class }) {
			n += k
		}
	}
	return n
}
