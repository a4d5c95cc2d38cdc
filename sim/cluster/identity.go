package cluster

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// maxMembers is how many members there can be when a run begins: more than any needs.
const maxMembers = 64

// epoch is the wall clock at virtual time zero.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// identity is who a member is.
type identity struct {
	name        string
	class       string // empty: none
	id          ident.Member
	key         *signature.PrivateKey
	certificate certificate.Certificate
	address     string // empty: it only dials out
	endpoint    []byte
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

// addressOf is an address that nobody else has.
func addressOf(number uint64) string {
	ip := [4]byte{10, byte(number >> 16), byte(number >> 8), byte(number)}
	return netip.AddrPortFrom(netip.AddrFrom4(ip), 4133).String()
}

// memberName is a, b, c, … z, a1, b1, …
func memberName(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += strconv.Itoa(i / 26)
	}
	return name
}

// must ends the program on an error that only a bug in the simulator brings.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
