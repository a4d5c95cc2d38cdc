package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// backdated is how long before its issue a certificate is valid, for clocks that
// are slow.
const backdated = 2 * time.Minute

// authority is the CA of one run. Its key remembers verdicts on signatures, and so do the
// keys that it has certified: each member verifies what all others have verified, and a
// third of a run's time would be that.
type authority struct {
	memory signature.Memory
	key    *signature.PrivateKey
	id     ident.Group
	signed group.Authority
	seed   uint64 // of the keys of members that enrol

	classes []string // of the members that enrol, in turn; none: nobody has one

	version   uint64          // of the newest configuration
	serial    uint64          // of the newest certificate of a member that has enrolled
	revoked   []time.Duration // when, of each revocation in the order of their versions
	published *group.Group    // with the newest configuration that members are to begin with
}

func newAuthority(seed uint64) *authority {
	a := &authority{seed: seed}
	a.key = a.fixedKey(255)
	public := a.key.Public().Bytes()
	a.id = ident.GroupOf(public[:])
	var err error
	a.signed, err = group.Statement{
		Name: "simulated", Group: a.id, Key: public, NotBefore: epoch.AddDate(-1, 0, 0), NotAfter: epoch.AddDate(10, 0, 0),
	}.Sign(a.key)
	must(err)
	return a
}

func (a *authority) fixedKey(n byte) *signature.PrivateKey {
	key, err := a.memory.PrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	must(err)
	return key
}

// founder is one of the maxMembers that may be there when a run begins. It is the same in
// all runs.
func (a *authority) founder(i int) identity {
	key := a.fixedKey(byte(i + 1))
	c, err := certificate.Claims{
		Name: memberName(i), Serial: uint64(i + 1), NotBefore: epoch.AddDate(0, -1, 0), NotAfter: epoch.AddDate(1, 0, 0),
		IssuedAt: epoch.AddDate(0, -1, 0), Key: key.Public().Bytes(), Group: a.id, ConfigVersion: 1,
	}.Sign(a.key)
	must(err)
	who := identity{name: memberName(i), id: c.Member(), key: key, certificate: c, address: fmt.Sprintf("192.0.2.%d:4133", i+1)}
	who.endpoint = endpointOf(a.id, who)
	return who
}

// found makes the group with these resources and constants.
func (a *authority) found(resources []group.Resource, constants group.Settings) (*group.Group, error) {
	c, err := a.configure(resources, constants)
	if err != nil {
		return nil, err
	}
	a.published, err = group.New([]group.Authority{a.signed}, c)
	return a.published, err
}

// configure signs the next configuration of the group.
func (a *authority) configure(resources []group.Resource, constants group.Settings) (group.Config, error) {
	a.version++
	constants.Version, constants.Name, constants.Issued, constants.Resources = a.version, "simulated", epoch, resources
	return constants.WithDefaults().Sign(a.id, a.key)
}

// publish signs the next configuration for all, also for those who begin from now on: it
// says up to which version revocations may be forgotten, because every certificate that
// they are about has ended long ago.
func (a *authority) publish(now time.Duration, resources []group.Resource, constants group.Settings) group.Config {
	for i, at := range a.revoked {
		if now-at > 2*a.lifetime() {
			constants.RevocationFloor = uint64(i + 1)
		}
	}
	config, err := a.configure(resources, constants)
	must(err)
	a.published, err = a.published.WithConfig(config)
	must(err)
	return config
}

// enrol makes a new member's key and gives it its first certificate.
func (a *authority) enrol(now time.Duration) identity {
	number := a.serial + 1
	key, err := a.memory.PrivateKey(seedOf(a.seed, number))
	must(err)
	who := identity{name: fmt.Sprintf("m%d", number), class: a.classOf(number), key: key, address: addressOf(number)}
	a.certify(&who, now)
	who.endpoint = endpointOf(a.id, who)
	return who
}

// classOf is the class of the member with a serial number that enrols.
func (a *authority) classOf(serial uint64) string {
	if len(a.classes) == 0 {
		return ""
	}
	return a.classes[(serial-1)%uint64(len(a.classes))]
}

// seedOf makes the key of a run's member.
func seedOf(seed, number uint64) []byte {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), number))
	return h[:signature.SeedSize]
}

// certify gives a member a certificate from now on.
func (a *authority) certify(who *identity, now time.Duration) {
	a.serial++
	from := epoch.Add(now.Truncate(time.Second))
	var err error
	who.certificate, err = certificate.Claims{
		Name: who.name, Serial: a.serial, NotBefore: from.Add(-backdated), NotAfter: from.Add(a.lifetime() - backdated),
		IssuedAt: from, Key: who.key.Public().Bytes(), Group: a.id, Class: who.class,
		ConfigVersion: a.version, RevocationVersion: uint64(len(a.revoked)),
	}.Sign(a.key)
	must(err)
	who.id = who.certificate.Member()
}

// revoke revokes a certificate.
func (a *authority) revoke(c certificate.Certificate, now time.Duration) []byte {
	a.revoked = append(a.revoked, now)
	r, err := certificate.Revocation{
		Version: uint64(len(a.revoked)), Member: c.Member(), Serial: c.Body().Serial,
		Reason: "simulated", Time: uint64(epoch.Add(now).UnixMilli()),
	}.Sign(a.id, a.key)
	must(err)
	return r.Raw()
}

// lifetime is the group's longest for a certificate, all of which the CA gives.
func (a *authority) lifetime() time.Duration {
	return a.published.Config().Settings().CertificateLifetime
}
