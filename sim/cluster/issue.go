package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
)

// issuer is what the CA of a run has issued and published.
type issuer struct {
	serial    uint64
	revoked   []time.Duration // when, of each revocation in the order of their versions
	published *group.Group    // with the newest configuration
}

// backdated is how long before its issue a certificate is valid, for clocks that
// are slow.
const backdated = 2 * time.Minute

// enrol makes a new member's key and gives it its first certificate.
func (c *cluster) enrol() identity {
	number := c.issuer.serial + 1
	key := seededKey(c.seed, number)
	who := identity{name: fmt.Sprintf("m%d", number), key: key, address: addressOf(number)}
	c.certify(&who)
	who.endpoint = endpointOf(c.group.ID(), who)
	return who
}

// seededKey is the key of a run's member.
func seededKey(seed, number uint64) *signature.PrivateKey {
	h := sha256.Sum256(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, seed), number))
	key, err := signature.NewPrivateKey(h[:signature.SeedSize])
	must(err)
	return key
}

// addressOf is an address that nobody else has.
func addressOf(number uint64) string {
	ip := [4]byte{10, byte(number >> 16), byte(number >> 8), byte(number)}
	return netip.AddrPortFrom(netip.AddrFrom4(ip), 4133).String()
}

// certify gives a member a certificate from now on.
func (c *cluster) certify(who *identity) {
	c.issuer.serial++
	now := epoch.Add(c.now.Truncate(time.Second))
	var err error
	who.certificate, err = certificate.Claims{
		Name: who.name, Serial: c.issuer.serial, NotBefore: now.Add(-backdated), NotAfter: now.Add(c.lifetime() - backdated),
		IssuedAt: now, Key: who.key.Public().Bytes(), Group: c.group.ID(),
		ConfigVersion: c.version, RevocationVersion: uint64(len(c.issuer.revoked)),
	}.Sign(theAuthority().key)
	must(err)
	who.id = who.certificate.Member()
}

// lifetime is the group's longest for a certificate, all of which the CA gives.
func (c *cluster) lifetime() time.Duration { return c.group.Config().Settings().CertificateLifetime }

// renewWhenDue renews a member's certificate at two thirds of its life, as long as
// the member takes part. One that is down renews when it is back.
func (c *cluster) renewWhenDue(n *node) {
	c.after((c.lifetime()-backdated)*2/3+c.random(c.lifetime()/24), func() {
		if n.gone {
			return
		}
		c.certify(&n.identity)
		c.count.renewals++
		c.log(n, "gets certificate %d", n.certificate.Claims().Serial)
		n.put(member.Renewed{Certificate: n.certificate})
		c.renewWhenDue(n)
	})
}

// revoke revokes a member's certificate and says so to nobody yet.
func (c *cluster) revoke(n *node) []byte {
	c.issuer.revoked = append(c.issuer.revoked, c.now)
	r, err := certificate.Revocation{
		Version: uint64(len(c.issuer.revoked)), Member: n.id, Serial: n.certificate.Claims().Serial,
		Reason: "simulated", Time: uint64(epoch.Add(c.now).UnixMilli()),
	}.Sign(c.group.ID(), theAuthority().key)
	must(err)
	n.revocation = r.Raw()
	return n.revocation
}

// syncShare is how many members, on average, ask the CA within a gossip interval:
// the daemon's.
const syncShare = 8

// syncs lets a member ask the CA now and then, as the daemon does. It hears of a
// few members, so that one whose contacts have all died finds the others, and
// whether it is revoked.
func (c *cluster) syncs(n *node) {
	pause := c.group.Config().Settings().GossipInterval
	if n.member != nil {
		pause = max(pause, pause*time.Duration(n.member.Candidates()+1)/syncShare)
	}
	c.after(pause/2+c.random(pause), func() {
		if n.gone {
			return
		}
		if n.member != nil {
			n.put(c.answer(n))
		}
		c.syncs(n)
	})
}

// answer is what the CA says to a member.
func (c *cluster) answer(n *node) member.Learn {
	in := member.Learn{Configuration: c.issuer.published.Config().Raw()}
	if n.fate == revoked && n.doomed {
		in.Revocations = [][]byte{n.revocation}
	}
	for _, o := range c.choose(contactsOf, n) {
		if endpoint, ok := o.member.Endpoint(o.id); ok {
			in.Certificates = append(in.Certificates, o.certificate.Raw())
			in.Endpoints = append(in.Endpoints, endpoint)
		}
	}
	return in
}

// publish signs the next configuration: it says up to which version revocations
// may be forgotten, because every certificate that they are about has ended long
// ago.
func (c *cluster) publish() []byte {
	constants := c.constants
	for i, at := range c.issuer.revoked {
		if c.now-at > 2*c.lifetime() {
			constants.RevocationFloor = uint64(i + 1)
		}
	}
	c.version++
	config, err := theAuthority().configure(c.version, c.resources, constants)
	must(err)
	c.issuer.published, err = c.issuer.published.WithConfig(config)
	must(err)
	c.count.configurations++
	return config.Raw()
}
