package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// maxTokens is how many tokens a measurement may have.
	maxTokens = group.MaxSlots
	// resource is what the tokens are for.
	resource = "bench"
)

// names are those of the members where there are two.
var names = [2]string{"a", "b"}

// fastest is a resource whose tokens never rest longer than they must, and
// that is never regenerated.
func fastest(tokens int) group.Resource {
	return group.Resource{
		Name: resource, Slots: tokens, MaxHold: time.Minute,
		Params: policy.Params{
			Preset: wandering.Paper, OperationTime: time.Second, MembersMax: len(names), SkipDelay: policy.MinDuration,
			MinInterval: policy.MinDuration, RegenerationMean: policy.MaxInterval,
		},
	}
}

// makeGroup makes a throw-away CA in dir, and the files of each member in a
// folder of its name.
func makeGroup(dir string, members []string, resources ...group.Resource) error {
	return makeGroupWith(dir, members, group.Settings{Resources: resources})
}

// makeGroupWith is makeGroup for settings beyond the resources.
func makeGroupWith(dir string, members []string, settings group.Settings) error {
	authority, err := ca.Create(filepath.Join(dir, "ca"), ca.CreateOptions{Name: "bench", Lifetime: 24 * time.Hour})
	if err != nil {
		return err
	}
	if _, err := authority.SetConfig(settings); err != nil {
		return err
	}
	for _, name := range members {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		if err := authority.Equip(folder, name); err != nil {
			return err
		}
	}
	return nil
}

// identity reads a member's files.
func identity(dir string) (node.Identity, error) {
	return node.LoadIdentity(
		filepath.Join(dir, "member.crt"), filepath.Join(dir, "member.key"),
		filepath.Join(dir, "..", "ca", ca.GroupFile))
}
