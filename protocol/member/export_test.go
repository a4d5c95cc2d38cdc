package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Shunned reports whether a member is not offered tokens for not answering.
func (m *Member) Shunned(id ident.Member) bool { return m.circ.candidates.avoids(id) }

// HasStated reports whether a member has stated another one's failure.
func (m *Member) HasStated(id ident.Member) bool { return m.live.detector.hasStated(id) }

// Assemblies is how many configurations are coming in parts.
func (m *Member) Assemblies() int { return len(m.members.configs.assemblies) }

// SetPolicies has policies made by a test.
func (c *Config) SetPolicies(made func(policy.Surroundings) policy.Policy) {
	c.policies = func(_ string, _ policy.Params, in policy.Surroundings) (policy.Policy, error) { return made(in), nil }
}

// MaxShunned is how many members one passes no tokens to at most.
const MaxShunned = maxShunned

// Shuns is how many those are now.
func (m *Member) Shuns() int { return len(m.circ.candidates.shuns) }
