package spec_test

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/wire"
)

// couple is what Cleo knows of Ada, whom Ben does not reach, and of Ben.
type couple struct {
	directory        *directory.Directory
	ada, ben         []byte // certificates
	endpoint, failed []byte // of Ada; about her
}

func certified(t *testing.T, p party, name string, serial uint64) []byte {
	c, err := certificate.Claims{
		Name: name, Serial: serial, NotBefore: day, NotAfter: day.AddDate(0, 0, 90), IssuedAt: day,
		Key: p.key.Public().Bytes(), Group: groupID, ConfigVersion: 7,
	}.Sign(authority.key)
	require.NoError(t, err)
	return c.Raw()
}

func newCouple(t *testing.T) couple {
	g, err := group.New([]group.Authority{statement(t, authority, authority, noExtension)}, configuration(t, 1, noExtension))
	require.NoError(t, err)
	f, err := certificate.Failure{Witness: ben.id, Subject: ada.id, Sequence: 12, Time: millis}.Sign(groupID, ben.key)
	require.NoError(t, err)
	c := couple{
		directory: directory.New(g, cleo.id), ada: certified(t, ada, "ada", 1), ben: certified(t, ben, "ben", 2),
		endpoint: endpoint(t, certificate.Endpoint{Mode: certificate.Reachable, Addresses: []string{"ada.example.org:4133"}}).Raw(),
		failed:   f.Raw(),
	}
	entries := []wire.Entry{{Certificate: c.ada, Endpoint: c.endpoint, Failures: [][]byte{c.failed}}, {Certificate: c.ben}}
	for _, l := range c.directory.LearnPage(entries, nil) {
		require.NoError(t, l.Err)
	}
	return c
}

// fingerprintOf follows the words of D-16.
func fingerprintOf(certificate, endpoint, leave []byte, failures ...[]byte) (p wire.Fingerprint) {
	var all []byte
	for _, raw := range append([][]byte{certificate, endpoint, leave}, failures...) {
		sum := [32]byte{}
		if len(raw) > 0 {
			sum = sha256.Sum256(raw)
		}
		all = append(all, sum[:]...)
	}
	sum := sha256.Sum256(all)
	copy(p[:], sum[:])
	return p
}

func TestFingerprints(t *testing.T) {
	c := newCouple(t)
	members, xor := c.directory.Fingerprint()
	assert.EqualValues(t, 2, members)
	for i, p := range fingerprintOf(c.ada, c.endpoint, nil, c.failed) {
		assert.Equal(t, p^fingerprintOf(c.ben, nil, nil)[i], xor[i])
	}
	_, nobody := c.directory.Range(cleo.id, cleo.id)
	assert.Zero(t, nobody)
}
