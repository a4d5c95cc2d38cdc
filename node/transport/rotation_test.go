package transport

import (
	"context"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// rotation is a group whose CA key is replaced: what a member knows after each
// step of the CA.
type rotation struct {
	*testGroup
	newer     *signature.PrivateKey
	knowledge []*group.Group // before it, begun, switched, retired
}

const (
	before = iota
	begun
	switched
	retired
)

func newRotation(t testing.TB) *rotation {
	t.Helper()
	r := &rotation{testGroup: newGroup(t, "rotating"), newer: keyFromSeed(t, "second ca")}
	first := r.statement(t, r.ca, r.ca, 0)
	old, both := [][16]byte{first.ID()}, [][16]byte{first.ID(), certificate.AuthorityID(r.newer.Public())}
	g, err := group.New([]group.Authority{first}, r.config(t, 1, r.ca, old))
	require.NoError(t, err)
	r.knowledge = append(r.knowledge, g)
	g, err = g.WithAuthority(r.statement(t, r.newer, r.ca, 2).Raw())
	require.NoError(t, err)
	for _, c := range []group.Config{
		r.config(t, 2, r.ca, both), r.config(t, 3, r.newer, both), r.config(t, 4, r.newer, both[1:]),
	} {
		g, err = g.WithConfig(c)
		require.NoError(t, err)
		r.knowledge = append(r.knowledge, g)
	}
	return r
}

func (r *rotation) statement(t testing.TB, about, by *signature.PrivateKey, version uint64) group.Authority {
	t.Helper()
	a, err := group.Statement{
		Name: "demo", Group: r.id, Key: about.Public().Bytes(), Version: version,
		NotBefore: r.now.Add(-time.Hour), NotAfter: r.now.AddDate(10, 0, 0),
	}.Sign(by)
	require.NoError(t, err)
	return a
}

func (r *rotation) config(t testing.TB, version uint64, by *signature.PrivateKey, listed [][16]byte) group.Config {
	t.Helper()
	c, err := group.Settings{
		Version: version, Name: "demo", Issued: r.now, Authorities: listed,
		Resources: []group.Resource{{Name: "ftp", Params: policy.Params{OperationTime: time.Second, MembersMax: 10}}},
	}.WithDefaults().Sign(r.id, by)
	require.NoError(t, err)
	return c
}

// signedBy is a member whose certificate is by one of the CA's keys.
func (r *rotation) signedBy(t testing.TB, ca *signature.PrivateKey, name string) (*signature.PrivateKey, certificate.Certificate) {
	as := *r.testGroup
	as.ca = ca
	return as.member(t, name, nil)
}

// knowing makes a member that has heard of the steps up to one, and whose
// certificate is by the old key or the new one.
func (r *rotation) knowing(t testing.TB, step int, ca *signature.PrivateKey, name string) func(*Config) {
	return func(c *Config) {
		c.Authorities, c.Vouchers = r.knowledge[step], r.knowledge[step].Vouchers()
		c.Key, c.Certificate = r.signedBy(t, ca, name)
	}
}

// TestRotation_AnyOrder_GroupStaysOne: at every step of the CA, each member that
// there can be reaches every other, whatever either has heard.
func TestRotation_AnyOrder_GroupStaysOne(t *testing.T) {
	type kind struct {
		knows int
		newer bool // certificate by the new key
	}
	steps := map[string][]kind{
		"before": {{before, false}},
		"begun":  {{before, false}, {begun, false}},
		// Whoever has a certificate by the new key knows of it.
		"switched": {{before, false}, {begun, false}, {switched, false}, {begun, true}, {switched, true}},
		// The CA does not retire the old key before all have renewed.
		"retired": {{begun, true}, {switched, true}, {retired, true}},
	}
	r := newRotation(t)
	for step, kinds := range steps {
		t.Run(step, func(t *testing.T) {
			for i, a := range kinds {
				for j, b := range kinds {
					name := fmt.Sprintf("%v to %v", a, b)
					open := func(label string, k kind) *node {
						ca := r.ca
						if k.newer {
							ca = r.newer
						}
						label = fmt.Sprintf("%s-%d-%d-%s", step, i, j, label)
						return r.open(t, newBook(), loopback(t), label, r.knowing(t, k.knows, ca, label))
					}
					x, y := open("x", a), open("y", b)
					m, err := x.DialAddress(context.Background(), y.Addr().String())
					require.NoError(t, err, name)
					require.Equal(t, y.Self(), m, name)
					y.wait(func(e event) bool { return e.kind == "connected" && e.peer == x.Self() }, 1)
					require.NoError(t, x.Close())
					require.NoError(t, y.Close())
				}
			}
		})
	}
}

// TestRotation_NewKey_LearntFromPeer: it says so once, and needs no vouchers from
// the next peer on.
func TestRotation_NewKey_LearntFromPeer(t *testing.T) {
	r := newRotation(t)
	var told atomic.Int64
	var statements [][]byte
	a := r.open(t, newBook(), loopback(t), "a", func(c *Config) {
		r.knowing(t, before, r.ca, "a")(c)
		c.Vouched = func(s [][]byte) { told.Add(1); statements = s }
	})
	dial := func(n *node) error {
		_, err := a.DialAddress(context.Background(), n.Addr().String())
		return err
	}
	mute := r.open(t, newBook(), loopback(t), "m", func(c *Config) {
		r.knowing(t, switched, r.newer, "m")(c)
		c.Vouchers = nil
	})
	require.ErrorIs(t, dial(mute), ErrOtherGroup, "without a word about its CA key")
	require.NoError(t, dial(r.open(t, newBook(), loopback(t), "b", r.knowing(t, switched, r.newer, "b"))))
	require.NoError(t, dial(r.open(t, newBook(), loopback(t), "c", r.knowing(t, switched, r.newer, "c"))))
	require.NoError(t, dial(mute))
	assert.Equal(t, int64(1), told.Load())
	assert.Equal(t, r.knowledge[begun].Vouchers(), statements)
}

// TestVouchers_Useless_Refused: the refusal is a stranger's.
func TestVouchers_Useless_Refused(t *testing.T) {
	r := newRotation(t)
	evil := keyFromSeed(t, "evil ca")
	good := r.knowledge[begun].Vouchers()[0]
	forged := append([]byte(nil), good...)
	forged[len(forged)-1] ^= 1
	tests := []struct {
		name     string
		ca       *signature.PrivateKey
		knows    int
		vouchers [][]byte
		want     error
	}{
		{"as it should be", r.newer, before, [][]byte{good}, nil},
		{"none", r.newer, before, nil, ErrOtherGroup},
		{"forged", r.newer, before, [][]byte{forged}, ErrOtherGroup},
		{"behind a forged one", r.newer, before, [][]byte{forged, good}, ErrOtherGroup},
		{"about another key", evil, before, [][]byte{good}, ErrOtherGroup},
		{"by itself", evil, before, [][]byte{r.statement(t, evil, evil2(t), 9).Raw()}, ErrOtherGroup},
		{"by the retired key", evil, retired, [][]byte{r.statement(t, evil, r.ca, 9).Raw()}, ErrOtherGroup},
		{"of the retired key", r.ca, retired, [][]byte{r.statement(t, r.ca, r.ca, 0).Raw()}, ErrOtherGroup},
		{"no statements", r.newer, before, [][]byte{[]byte("x"), good}, ErrOtherGroup},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, cert := r.signedBy(t, tt.ca, "stranger")
			parsed, err := x509.ParseCertificate(must(tlsCertificate(key, cert, tt.vouchers)).Certificate[0])
			require.NoError(t, err)
			v := newVerifier(r.id, r.knowledge[tt.knows], func() time.Time { return r.now })
			_, err = v.identify([]*x509.Certificate{parsed})
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func evil2(t testing.TB) *signature.PrivateKey { return keyFromSeed(t, "another evil ca") }

// TestVouchers_NoGroup_Ignored: other authorities, of tests, stay as they are.
func TestVouchers_NoGroup_Ignored(t *testing.T) {
	r := newRotation(t)
	key, cert := r.signedBy(t, r.newer, "a")
	parsed, err := x509.ParseCertificate(must(tlsCertificate(key, cert, r.knowledge[begun].Vouchers())).Certificate[0])
	require.NoError(t, err)
	_, err = newVerifier(r.id, r.testGroup, time.Now).identify([]*x509.Certificate{parsed})
	assert.ErrorIs(t, err, ErrOtherGroup)
}

func TestVouchers_Many_Bounded(t *testing.T) {
	r := newRotation(t)
	key, cert := r.signedBy(t, r.ca, "a")
	_, err := tlsCertificate(key, cert, [][]byte{make([]byte, maxVouchers)})
	assert.Error(t, err)
	a := r.open(t, newBook(), loopback(t), "a", nil)
	assert.ErrorIs(t, a.SetCertificate(a.cert, [][]byte{make([]byte, maxVouchers)}), ErrConfig)

	extensionOf := func(vouchers [][]byte) *x509.Certificate {
		parsed, err := x509.ParseCertificate(must(tlsCertificate(key, cert, vouchers)).Certificate[0])
		require.NoError(t, err)
		return parsed
	}
	assert.Nil(t, vouchers(extensionOf(nil)))
	usual := r.knowledge[retired].Vouchers()
	parsed := extensionOf(usual)
	assert.Equal(t, usual, vouchers(parsed))
	for i, e := range parsed.Extensions {
		if e.Id.Equal(VouchersOID) {
			parsed.Extensions[i].Value = must(asn1.Marshal([][]byte{make([]byte, maxVouchers)}))
		}
	}
	assert.Nil(t, vouchers(parsed), "too large")
	require.Equal(t, "2.25.1849619270", VouchersOID.String())
}

// TestRotation_KeyRetired_LastWordsArrive: that the key is retired may be among them, and
// whoever misses that is turned away everywhere, and not told why.
func TestRotation_KeyRetired_LastWordsArrive(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		r := newRotation(t)
		b.testGroup = r.testGroup
		a := b.node("a", r.knowing(t, switched, r.newer, "a"))
		old := b.node("old", r.knowing(t, switched, r.ca, "old"))
		a.Send(old.Self(), Custody, []byte("x"))
		old.wait(frame("x"), 1)
		time.Sleep(sweepInterval - time.Since(a.start)%sweepInterval - time.Millisecond)
		for range 100 { // more than QUIC takes at once: a sweep comes while it waits
			a.Send(old.Self(), Rest, make([]byte, 4000))
		}
		a.Send(old.Self(), Rest, []byte("the key is retired"))
		a.SetAuthorities(r.knowledge[retired])
		old.wait(frame("the key is retired"), 1)
		require.ErrorIs(t, old.wait(kind("disconnected"), 1).err, ErrProtocol)
		assert.Equal(t, uint64(1), a.Stats().Lapsed)
	})
}

// TestRotation_KeyRetired_ConnectionsEnd: those with members whose certificates it
// signed, and no others.
func TestRotation_KeyRetired_ConnectionsEnd(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		r := newRotation(t)
		b.testGroup = r.testGroup
		idle := func(inner func(*Config)) func(*Config) {
			return func(c *Config) { inner(c); c.IdleTimeout = time.Hour }
		}
		a := b.node("a", idle(r.knowing(t, switched, r.newer, "a")))
		old := b.node("old", idle(r.knowing(t, switched, r.ca, "old")))
		renewed := b.node("renewed", idle(r.knowing(t, switched, r.newer, "renewed")))
		a.Send(old.Self(), Custody, []byte("x"))
		a.Send(renewed.Self(), Custody, []byte("x"))
		old.wait(frame("x"), 1)
		renewed.wait(frame("x"), 1)
		a.SetAuthorities(r.knowledge[retired])
		e := a.wait(kind("disconnected"), 1)
		assert.Equal(t, old.Self(), e.peer)
		time.Sleep(time.Minute)
		assert.Equal(t, 1, a.count(kind("disconnected")))
		assert.Equal(t, uint64(1), a.Stats().Lapsed)
		a.Send(old.Self(), Custody, []byte("x"))
		require.ErrorIs(t, a.wait(kind("unreachable"), 1).err, ErrOtherGroup)

		key, cert := r.signedBy(t, r.newer, "old")
		require.NotNil(t, key)
		require.NoError(t, old.SetCertificate(cert, r.knowledge[switched].Vouchers()))
		time.Sleep(MaxBackOff)
		a.Send(old.Self(), Custody, []byte("renewed"))
		old.wait(frame("renewed"), 1)
	})
}
