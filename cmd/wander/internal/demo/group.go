package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
)

// resource is what the demo's group shares.
const resource = "demo"

// spare is by how much a grant is longer than the operation: starting the
// operation's process takes time.
const spare = 2 * time.Second

// makeGroup makes a throw-away CA in dir and the files of every member.
func makeGroup(o Options, dir string) ([]*process, error) {
	authority, err := ca.Create(filepath.Join(dir, "ca"), ca.CreateOptions{Name: "demo", Lifetime: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	_, err = authority.SetConfig(group.Settings{Resources: []group.Resource{{
		Name: resource, MaxHold: o.OperationTime + spare, Policy: o.Policy, Params: o.params(),
	}}})
	if err != nil {
		return nil, err
	}
	members := make([]*process, o.Members)
	crew := new(relay.Crew)
	for i := range members {
		if members[i], err = makeMember(o, authority, crew, dir, i); err != nil {
			return members, err
		}
	}
	for i, p := range members {
		if err := p.configure(o, authority.Dir(), i, members[0].reached()); err != nil {
			return members, err
		}
	}
	return members, nil
}

func makeMember(o Options, authority *ca.Authority, crew *relay.Crew, dir string, i int) (*process, error) {
	p := &process{name: o.nameOf(i), program: o.Program}
	if err := p.listen(); err != nil {
		return p, err
	}
	p.dir = filepath.Join(dir, p.name)
	p.client = api.Dial(filepath.Join(p.stateDir(), api.SocketName))
	if err := os.MkdirAll(p.stateDir(), 0o700); err != nil {
		return p, err
	}
	if o.relayed() {
		r, err := crew.New(p.address, relay.Path{Loss: o.Loss, Delay: o.Delay, Jitter: o.Delay / 4}, uint64(i))
		if err != nil {
			return p, err
		}
		p.relay = r
	}
	return p, authority.Equip(p.dir, p.name)
}

// configure writes the member's settings file.
func (p *process) configure(o Options, authority string, i int, first string) error {
	mode := "durable"
	if o.Volatile {
		mode = "volatile"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "state_dir = \"state\"\nmode = %q\n", mode)
	fmt.Fprintf(&b, "[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = %q\n", filepath.Join(authority, ca.GroupFile))
	fmt.Fprintf(&b, "[listen]\naddress = %q\nadvertise = [%q]\n", p.address, p.reached())
	if i > 0 {
		fmt.Fprintf(&b, "[bootstrap]\npeers = [%q]\n", first)
	}
	fmt.Fprintf(&b, "[operation]\nresource = %q\ncommand = [%q, \"pause\", %q]\n", resource, o.Program, o.OperationTime)
	file := filepath.Join(p.dir, "wander.toml")
	p.args = []string{"node", "--until-input-ends", "--config", file}
	if i == 0 {
		p.args = append(p.args, "--found")
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
