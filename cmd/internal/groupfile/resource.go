// Package groupfile reads the table of a resource, as the group's file and the
// simulator's scenarios have it, and places errors about it.
package groupfile

import (
	"fmt"
	"math"
	"strings"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Resource is one [[resource]]: what is signed, as the file says it.
type Resource struct {
	group.Resource
	windows []oneWindow
}

// asOperation is the max_hold of a resource whose file has none: it is operation_time.
const asOperation = math.MinInt64

// SetDefaults sets what the file need not have.
func (f *Resource) SetDefaults() {
	f.Resource = group.Resource{MaxHold: asOperation}.WithDefaults()
	f.Gate = group.Gate{}.WithDefaults()
}

// Places returns where the values of a table go, by their keys.
func (f *Resource) Places() map[string]any {
	places := map[string]any{"name": &f.Name, "policy": &f.Policy, "preset": &f.Preset, "on_isolated": &f.OnIsolated, "weights": &f.Weights}
	for _, c := range group.ResourceConstants {
		places[c.Name] = c.Field(&f.Resource)
	}
	places["gate"], places["gate_address"], places["gate_mode"] = &f.Gate.Member, &f.Gate.Address, &f.Gate.Mode
	places["windows"] = &f.windows
	for _, c := range group.GateConstants {
		places[c.Name] = c.Field(&f.Gate)
	}
	for _, p := range policy.Parameters {
		places[p.Name] = p.Field(&f.Params)
	}
	return places
}

// Group returns what is signed. It names the preset even where the file leaves it to
// the policy, so that all members follow the same one, whatever their program has as
// its default.
func (f Resource) Group() group.Resource {
	r := f.Resource
	for _, w := range f.windows {
		r.Windows = append(r.Windows, w.Window)
	}
	if r.MaxHold == asOperation {
		r.MaxHold = r.OperationTime
	}
	if r.Gate == (group.Gate{}).WithDefaults() {
		r.Gate = group.Gate{} // nothing says that there is one
	}
	if known := catalog.Presets(r.Policy); r.Preset == "" && len(known) > 0 {
		r.Preset = known[0].Name
	}
	return r
}

// PolicyHelp returns a line for each preset of each policy: the parameters that it
// uses beside those that every policy does.
func PolicyHelp() string {
	var b strings.Builder
	for _, name := range catalog.Names() {
		for i, preset := range catalog.Presets(name) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "  %-14s %-10s %s\n", name, preset.Name, strings.Join(preset.Uses, ", "))
		}
	}
	return b.String()
}
