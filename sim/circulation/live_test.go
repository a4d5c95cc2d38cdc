package circulation_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	randv2 "math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/sim/circulation"
)

// recorder keeps what one live member's policy was told and what it answered.
type recorder struct {
	group   ident.Group
	self    ident.Member
	slot    ident.Member
	mu      sync.Mutex
	name    string
	params  policy.Params
	seed    [32]byte
	events  []circulation.Recorded
	asked   []policy.Asked // in the step in progress
	answers [][]policy.Action
}

// receipt reads what the member has verified.
func (r *recorder) receipt(raw []byte) (policy.Receipt, bool) {
	b, _, err := token.PeekAnswer(r.group, token.Receipt, raw)
	return policy.Receipt{Token: b.Token, Hop: b.Hop, Signer: b.Signer, Current: true}, err == nil
}

func (r *recorder) PolicyMade(resource string, slot uint64, name string, params policy.Params, seed [32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.name, r.params, r.seed, r.slot = name, params, seed, directory.SlotID(resource, slot)
}

func (r *recorder) PolicyStepped(_ string, _ uint64, now clock.Instant, e policy.Event, answer []policy.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Body, e.Token.Field = slices.Clone(e.Body), slices.Clone(e.Token.Field)
	answer = slices.Clone(answer)
	for i := range answer {
		answer[i].Field = slices.Clone(answer[i].Field)
	}
	r.events = append(r.events, circulation.Recorded{Now: now, Event: e, Asked: r.asked})
	r.asked = nil
	r.answers = append(r.answers, answer)
}

func (r *recorder) Dropped(string, uint64, ident.Token, policy.DropReason) {}

func (r *recorder) PolicyAsked(_ string, _ uint64, a policy.Asked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.Answer = slices.Clone(a.Answer)
	r.asked = append(r.asked, a)
}

// TestMain runs more of the parallel tests at once than there are processors: live groups
// wait for most of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}

// TestLiveGroup_SameEvents_SameDecisions records what the policies of a live group,
// over real QUIC and disks, were told and did, and tells the same to policies
// in the simulator: they do the same.
func TestLiveGroup_SameEvents_SameDecisions(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			t.Run(name+"/"+preset.Name, func(t *testing.T) {
				t.Parallel()
				for _, r := range liveGroup(t, name, preset) {
					replayed, err := circulation.Replay(r.name, r.params, policy.Surroundings{
						Self: r.self, Random: randv2.NewChaCha8(r.seed), Slot: r.slot, Forgetful: true, Young: true, Receipt: r.receipt,
					}, r.events)
					require.NoError(t, err)
					require.Len(t, replayed, len(r.answers))
					for i := range r.answers {
						require.Equal(t, printed(r.answers[i]), printed(replayed[i]), "event %d: %+v", i, r.events[i])
					}
					assert.Greater(t, len(r.events), 10)
				}
			})
		}
	}
}

func printed(actions []policy.Action) string { return fmt.Sprintf("%+v", actions) }

// liveGroup lets three members use a resource a few times each.
func liveGroup(t *testing.T, name string, preset catalog.Preset) []*recorder {
	identities := liveIdentities(t, 3, liveResource(name, preset))
	ctx := context.Background()
	var recorders []*recorder
	var nodes []*node.Node
	var bootstrap []string
	for i, id := range identities {
		r := &recorder{group: id.Group.ID(), self: id.Certificate.Member()}
		n, err := node.Open(ctx, node.Config{
			Identity: id, StateDir: t.TempDir(), Listen: "127.0.0.1:0", Bootstrap: bootstrap,
			Found: i == 0, Socket: "-", Mode: store.Volatile, Observer: r,
		})
		require.NoError(t, err)
		nodes, recorders = append(nodes, n), append(recorders, r)
		bootstrap = []string{nodes[0].Address()}
	}
	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() {
			for range 3 {
				err := wander.Of(n).Do(ctx, "r", func(context.Context, wander.Grant) error { return nil })
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	for _, n := range nodes {
		require.NoError(t, n.Close(ctx))
	}
	return recorders
}

// liveResource is a resource under a policy, as fast as its preset permits.
func liveResource(name string, preset catalog.Preset) group.Resource {
	p := policy.Params{Preset: preset.Name, OperationTime: 20 * time.Millisecond, MembersMax: 3, SkipDelay: 5 * time.Millisecond}
	for option, set := range map[string]func(){
		"min_interval":    func() { p.MinInterval = 10 * time.Millisecond },
		"target_interval": func() { p.TargetInterval = 60 * time.Millisecond },
	} {
		if slices.Contains(preset.Uses, option) {
			set()
		}
	}
	return group.Resource{Name: "r", Policy: name, Params: p, MaxHold: time.Minute}.WithDefaults()
}

// liveIdentities are the members of a throw-away group with one resource.
func liveIdentities(t *testing.T, members int, resource group.Resource) []node.Identity {
	ca, err := signature.Generate(rand.Reader)
	require.NoError(t, err)
	pub := ca.Public().Bytes()
	id := ident.GroupOf(pub[:])
	now := time.Now().Truncate(time.Second)
	authority, err := group.Statement{Name: "live", Group: id, Key: pub, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}.Sign(ca)
	require.NoError(t, err)
	config, err := group.Settings{Version: 1, Name: "live", Issued: now, Resources: []group.Resource{resource}}.WithDefaults().Sign(id, ca)
	require.NoError(t, err)
	g, err := group.New([]group.Authority{authority}, config)
	require.NoError(t, err)
	var list []node.Identity
	for i := range members {
		key, err := signature.Generate(rand.Reader)
		require.NoError(t, err)
		c, err := certificate.Claims{
			Name: fmt.Sprintf("m%d", i), Serial: uint64(i + 1), NotBefore: now.Add(-time.Minute), NotAfter: now.Add(time.Hour),
			IssuedAt: now, Key: key.Public().Bytes(), Group: id, ConfigVersion: 1,
		}.Sign(ca)
		require.NoError(t, err)
		list = append(list, node.Identity{Group: g, Certificate: c, Key: key})
	}
	return list
}
