package experiment

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
)

// signedJoins are the updates of n joiners, with real keys and signatures. They
// are made once, and not to be changed.
func signedJoins(n int) [][]byte {
	signed.Lock()
	defer signed.Unlock()
	for i := len(signed.joins); i < n; i++ {
		signed.joins = append(signed.joins, signedJoin(i))
	}
	return signed.joins[:n:n]
}

var signed struct {
	sync.Mutex
	joins [][]byte
}

// signedJoin is a certificate, and an endpoint record with a name and an address
// of each family.
func signedJoin(i int) []byte {
	ca, key := numberedKey(0), numberedKey(i+1)
	root, begin := ca.Public().Bytes(), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	group := ident.GroupOf(root[:])
	c := must(certificate.Claims{
		Name: fmt.Sprintf("member-%05d", i), Serial: uint64(i + 1), NotBefore: begin, NotAfter: begin.AddDate(0, 3, 0),
		IssuedAt: begin, Key: key.Public().Bytes(), Group: group, ConfigVersion: 1, RevocationVersion: 1,
	}.Sign(ca))
	e := must(certificate.Endpoint{
		Member: c.Member(), Sequence: 1, Mode: certificate.Reachable, Time: uint64(begin.UnixMilli()),
		Addresses: []string{fmt.Sprintf("member-%05d.example.org:4133", i), "192.0.2.133:4133", "[2001:db8::133]:4133"},
	}.Sign(group, key))
	return must(update.Join(c.Raw(), e.Raw()).Encode())
}

func numberedKey(n int) *signature.PrivateKey {
	var seed [signature.SeedSize]byte
	binary.BigEndian.PutUint64(seed[:], uint64(n))
	return must(signature.NewPrivateKey(seed[:]))
}

// must is for objects that are made of constants.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
