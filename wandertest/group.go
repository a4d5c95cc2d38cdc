package wandertest

import (
	"crypto/rand"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/internal/memnet"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// No system call knows the time of a bubble.
func init() { boottime.FollowTime() }

// MaxMembers is how many members a group may have: each is a whole daemon.
const MaxMembers = 20

// Tape is the resource of a group that is given none.
const Tape = "tape"

// Resource is what the members of a group share.
type Resource struct {
	Name string
	// Slots is how many members may use it at once; 0 is one.
	Slots int
	// MaxHold is the longest grant; 0 is an hour.
	MaxHold time.Duration
}

const (
	defaultHold = time.Hour
	// operationTime and minInterval are those of a resource in these tests: far below what a test waits for, as members may run again at once.
	operationTime = time.Second
	minInterval   = 10 * time.Millisecond
	// skipDelay is how long an idle token rests at a member: each hop costs some milliseconds of real time.
	skipDelay = 10 * time.Second
	// lifetime is how long certificates last, longer than any test.
	lifetime = 5 * 365 * 24 * time.Hour
	port     = 4133
	// oneWay is how long a datagram takes: so that time passes, and nobody has to wait for it.
	oneWay = time.Millisecond
)

// Group is a group of members that run.
type Group struct {
	network *memnet.Network
	members []*Member
}

// New starts a group of so many members, 1 to [MaxMembers], that share the resources, or [Tape] if there are none. It fails the test if it
// cannot. The members stop when the test ends.
func New(t *testing.T, n int, resources ...Resource) *Group {
	t.Helper()
	if n < 1 || n > MaxMembers {
		t.Fatalf("wandertest: a group of %d members: permitted are 1 to %d", n, MaxMembers)
	}
	if len(resources) == 0 {
		resources = []Resource{{Name: Tape}}
	}
	g := &Group{network: memnet.New(0, oneWay)}
	if err := g.found(t, n, resources); err != nil {
		t.Fatalf("wandertest: %v", err)
	}
	t.Cleanup(func() {
		for _, m := range g.members {
			m.Stop()
		}
	})
	for _, m := range g.members {
		m.Start()
		m.config.Found = false
	}
	return g
}

// Member is one member, from 0 on.
func (g *Group) Member(i int) *Member { return g.members[i] }

// found makes the group's authority, its configuration, and a certificate for each member.
func (g *Group) found(t *testing.T, n int, resources []Resource) error {
	ca, err := signature.Generate(rand.Reader)
	if err != nil {
		return err
	}
	pub, now := ca.Public().Bytes(), time.Now().Truncate(time.Second)
	id, from, to := ident.GroupOf(pub[:]), now.Add(-time.Hour), now.Add(lifetime)
	authority, err := group.Statement{Name: "test", Group: id, Key: pub, NotBefore: from, NotAfter: to}.Sign(ca)
	if err != nil {
		return err
	}
	config, err := settings(n, resources, now).Sign(id, ca)
	if err != nil {
		return err
	}
	var addresses []string
	for i := range n {
		addresses = append(addresses, addressOf(i).String())
	}
	for i := range n {
		members, err := group.New([]group.Authority{authority}, config)
		if err != nil {
			return err
		}
		key, err := signature.Generate(rand.Reader)
		if err != nil {
			return err
		}
		m := &Member{t: t, name: "m" + strconv.Itoa(i), address: addressOf(i), network: g.network}
		own, err := certificate.Claims{
			Name: m.name, Serial: uint64(i + 1), NotBefore: from, NotAfter: to, IssuedAt: now, Key: key.Public().Bytes(), Group: id, ConfigVersion: 1,
		}.Sign(ca)
		if err != nil {
			return err
		}
		m.config = node.Config{
			Identity: node.Identity{Group: members, Certificate: own, Key: key}, StateDir: t.TempDir(), Mode: store.Durable,
			Listen: addresses[i], Bootstrap: addresses, Found: i == 0, Socket: "-",
		}
		g.members = append(g.members, m)
	}
	return nil
}

// settings are the group's configuration.
func settings(n int, resources []Resource, now time.Time) group.Settings {
	s := group.Settings{Version: 1, Name: "test", Issued: now}
	for _, r := range resources {
		hold := r.MaxHold
		if hold == 0 {
			hold = defaultHold
		}
		s.Resources = append(s.Resources, group.Resource{
			Name: r.Name, Slots: r.Slots, MaxHold: hold,
			Params: policy.Params{OperationTime: min(operationTime, hold), MembersMax: n, MinInterval: minInterval, SkipDelay: skipDelay},
		})
	}
	return s.WithDefaults()
}

// addressOf is where a member listens on the network of the test.
func addressOf(i int) *net.UDPAddr {
	return &net.UDPAddr{IP: net.IPv4(10, 0, 0, byte(i+1)), Port: port}
}
