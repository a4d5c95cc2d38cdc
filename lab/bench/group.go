package main

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
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
		if err := makeMember(authority, filepath.Join(dir, name), name); err != nil {
			return err
		}
	}
	return nil
}

func makeMember(authority *ca.Authority, dir, name string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	key, err := signature.Generate(rand.Reader)
	if err != nil {
		return err
	}
	text, err := keyfile.EncodePrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "member.key"), text, 0o600); err != nil {
		return err
	}
	c, err := authority.Issue(ca.Request{Name: name, Key: key.Public()})
	if err != nil {
		return err
	}
	text, err = keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: c.Raw()})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "member.crt"), text, 0o600)
}

// identity reads a member's files.
func identity(dir string) (node.Identity, error) {
	return node.LoadIdentity(
		filepath.Join(dir, "member.crt"), filepath.Join(dir, "member.key"),
		filepath.Join(dir, "..", "ca", ca.GroupFile))
}
