package cluster

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// maxMembers is how many identities there are: more than any run needs.
const maxMembers = 64

// epoch is the wall clock at virtual time zero.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// identity is who a member is. Keys and certificates are made once and used in
// every run: they cost more than a run's own signatures otherwise.
type identity struct {
	name        string
	id          ident.Member
	key         *signature.PrivateKey
	certificate certificate.Certificate
	address     string // empty: it only dials out
	endpoint    []byte
}

// authority is the CA of all simulated groups.
type authority struct {
	key     *signature.PrivateKey
	id      ident.Group
	signed  group.Authority
	members [maxMembers]identity
}

var theAuthority = sync.OnceValue(func() *authority {
	a := &authority{key: fixedKey(255)}
	public := a.key.Public().Bytes()
	a.id = ident.GroupOf(public[:])
	var err error
	a.signed, err = group.Statement{
		Name: "simulated", Group: a.id, Key: public, NotBefore: epoch.AddDate(-1, 0, 0), NotAfter: epoch.AddDate(10, 0, 0),
	}.Sign(a.key)
	must(err)
	for i := range a.members {
		a.members[i] = a.issue(i)
	}
	return a
})

func fixedKey(n byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	must(err)
	return key
}

func (a *authority) issue(i int) identity {
	key := fixedKey(byte(i + 1))
	c, err := certificate.Claims{
		Name: memberName(i), Serial: uint64(i + 1), NotBefore: epoch.AddDate(0, -1, 0), NotAfter: epoch.AddDate(1, 0, 0),
		IssuedAt: epoch.AddDate(0, -1, 0), Key: key.Public().Bytes(), Group: a.id, ConfigVersion: 1,
	}.Sign(a.key)
	must(err)
	who := identity{name: memberName(i), id: c.Member(), key: key, certificate: c, address: fmt.Sprintf("192.0.2.%d:4133", i+1)}
	who.endpoint = endpointOf(a.id, who)
	return who
}

// endpointOf is a member's first endpoint record.
func endpointOf(g ident.Group, who identity) []byte {
	e := certificate.Endpoint{Member: who.id, Sequence: 1, Mode: certificate.DialsOut, Addresses: who.addresses()}
	if len(e.Addresses) > 0 {
		e.Mode = certificate.Reachable
	}
	signed, err := e.Sign(g, who.key)
	must(err)
	return signed.Raw()
}

// addresses are where others can dial a member.
func (who identity) addresses() []string {
	if who.address == "" {
		return nil
	}
	return []string{who.address}
}

// memberName is a, b, c, … z, a1, b1, …
func memberName(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += strconv.Itoa(i / 26)
	}
	return name
}

// newGroup is the group with these resources and constants.
func (a *authority) newGroup(resources []group.Resource, constants group.Settings) (*group.Group, error) {
	c, err := a.configure(1, resources, constants)
	if err != nil {
		return nil, err
	}
	return group.New([]group.Authority{a.signed}, c)
}

// configure signs a configuration of the group.
func (a *authority) configure(version uint64, resources []group.Resource, constants group.Settings) (group.Config, error) {
	constants.Version, constants.Name, constants.Issued, constants.Resources = version, "simulated", epoch, resources
	return constants.WithDefaults().Sign(a.id, a.key)
}

// must ends the program on an error that only a bug in the simulator brings.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
