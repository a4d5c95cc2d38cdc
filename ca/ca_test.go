package ca

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

func TestCreate(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	a := create(t, d)
	s := a.Certificate().Body()
	assert.Equal(t, "demo", s.Name)
	assert.Equal(t, a.Group(), s.Group)
	assert.Equal(t, ident.GroupOf(s.Key[:]), a.Group())
	assert.Equal(t, day.Add(time.Second-backdate), s.NotBefore)
	assert.Equal(t, day.Add(time.Second+defaultLifetime), s.NotAfter)
	assert.True(t, a.Config().IsZero())
	assert.Equal(t, testDir, a.Dir())

	assert.Equal(t, a.Certificate().Raw(), blocks(t, d, caFile)[0].Bytes)
	_, _, err := group.Load(blocks(t, d, GroupFile))
	assert.ErrorIs(t, err, group.ErrNoConfiguration)
}

func TestCreate_AuthorityExists_Refused(t *testing.T) {
	a, d := fresh(t)
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo"})
	assert.ErrorIs(t, err, ErrExists)
	require.NoError(t, d.Rename(a.ledger.folder.name(KeyFile), "/elsewhere"))
	_, err = Create(testDir, CreateOptions{Options: options(d), Name: "demo"})
	assert.ErrorIs(t, err, ErrExists, "only its key is gone")
	without, err := Open(testDir, options(d))
	require.NoError(t, err, "its key may be kept elsewhere")
	_, err = without.List()
	assert.NoError(t, err)
	_, err = without.Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrNoKey)
}

func TestCreate_Invalid_Refused(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "De mo"})
	assert.ErrorIs(t, err, group.ErrName)
	_, err = Create(testDir, CreateOptions{Options: options(d), Name: "demo", Lifetime: maxLifetime + 1})
	assert.ErrorIs(t, err, ErrLifetime)
	o := options(d)
	o.Rand = bytes.NewReader(nil)
	_, err = Create(testDir, CreateOptions{Options: o, Name: "demo"})
	assert.Error(t, err)
	_, err = Open(testDir, options(d))
	assert.ErrorIs(t, err, ErrNoAuthority)
}

func TestSetConfig(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	a := create(t, d)
	first, err := a.SetConfig(settings("ftp", "backup"))
	require.NoError(t, err)
	s := first.Settings()
	assert.Equal(t, uint64(1), s.Version)
	assert.Equal(t, "demo", s.Name)
	assert.Equal(t, "backup", s.Resources[0].Name)
	assert.Equal(t, 4*time.Second, s.Resources[0].MaxHold)
	assert.Equal(t, first, a.Config())

	_, err = a.SetConfig(settings("backup", "ftp"))
	assert.ErrorIs(t, err, ErrUnchanged)
	second, err := a.SetConfig(settings("ftp"))
	require.NoError(t, err)
	assert.Equal(t, uint64(2), second.Version())
	_, err = a.SetConfig(settings())
	assert.ErrorIs(t, err, group.ErrResources)
	_, err = a.SetConfig(settings("ftp", "ftp"))
	assert.ErrorIs(t, err, group.ErrResources)

	g, _ := published(t, d)
	assert.Equal(t, second.Raw(), g.Config().Raw())
	assert.Equal(t, second, reopen(t, d).Config())
}

func TestIssue(t *testing.T) {
	a, d := fresh(t)
	cert := issue(t, a, "ftp-03", 2)
	c := cert.Body()
	assert.Equal(t, uint64(1), c.Serial)
	assert.Equal(t, "ftp-03", c.Name)
	assert.Equal(t, keyOf(2).Bytes(), c.Key)
	assert.Equal(t, uint64(1), c.ConfigVersion)
	assert.Zero(t, c.RevocationVersion)
	assert.Equal(t, group.DefaultCertificateLifetime, c.NotAfter.Sub(c.IssuedAt))
	assert.Equal(t, backdate, c.IssuedAt.Sub(c.NotBefore))

	g, _ := published(t, d)
	parsed, err := certificate.Parse(g.ID(), blocks(t, d, "issued/00000001-ftp-03.crt")[0].Bytes, g)
	require.NoError(t, err)
	assert.Equal(t, c, parsed.Body())
	assert.Equal(t, uint64(2), issue(t, a, "ftp-04", 3).Body().Serial)
	assert.Equal(t, uint64(3), issue(t, reopen(t, d), "ftp-05", 4).Body().Serial)
	assert.Equal(t, uint64(4), issue(t, a, "ftp-06", 5).Body().Serial, "it sees what others did")
}

func TestRenew_SameKey_SameMember(t *testing.T) {
	a, _ := fresh(t)
	first, second := issue(t, a, "ftp-03", 2), issue(t, a, "ftp-03", 2)
	assert.Equal(t, first.Member(), second.Member())
	assert.NotEqual(t, first.Body().Serial, second.Body().Serial)
	assert.True(t, second.Body().NotAfter.After(first.Body().NotAfter))
}

func TestIssue_Invalid_Refused(t *testing.T) {
	a, _ := fresh(t)
	issue(t, a, "taken", 2)
	tests := []struct {
		name    string
		request Request
		want    error
	}{
		{"name", Request{Name: "a/b", Key: keyOf(3)}, certificate.ErrName},
		{"name in use", Request{Name: "taken", Key: keyOf(3)}, ErrNameInUse},
		{"short", Request{Name: "a", Key: keyOf(3), Lifetime: time.Millisecond}, ErrLifetime},
		{"long", Request{Name: "a", Key: keyOf(3), Lifetime: 91 * 24 * time.Hour}, ErrLifetime},
		{"own key", Request{Name: "a", Key: a.Certificate().Key()}, ErrOwnKey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a.Issue(tt.request)
			assert.ErrorIs(t, err, tt.want)
		})
	}
	assert.Equal(t, uint64(2), issue(t, a, "free", 3).Body().Serial, "a refusal draws no number")
}

func TestIssue_NameOfExpiredOrRevoked_Free(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	first := issue(t, a, "ftp-03", 2)
	clock.now = first.Body().NotAfter
	second := issue(t, a, "ftp-03", 3)
	found, err := a.Find("ftp-03")
	require.NoError(t, err)
	assert.Equal(t, second.Member(), found)
	_, err = a.Revoke(second.Member(), "")
	require.NoError(t, err)
	issue(t, a, "ftp-03", 4)
}

func TestIssue_LongLifetime_EndsWithTheCA(t *testing.T) {
	clock := &clockAt{now: day}
	o := options(faultDisk{faultfs.New(1)})
	o.Now = clock.Now
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo", Lifetime: 100 * 24 * time.Hour})
	require.NoError(t, err)
	end := a.Certificate().Body().NotAfter
	clock.now = day.AddDate(0, 0, 50)
	assert.Equal(t, end, issue(t, a, "a", 2).Body().NotAfter)
	clock.now = day.Add(-time.Minute)
	early := issue(t, a, "a", 2).Body()
	assert.Equal(t, a.Certificate().Body().NotBefore, early.NotBefore, "nor is it older, with a clock that was set back")
	clock.now = end
	_, err = a.Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrExpired)
}

func TestIssue_Lifetime_BoundedByConfiguration(t *testing.T) {
	a, _ := fresh(t)
	s := settings("ftp")
	s.CertificateLifetime = time.Hour
	_, err := a.SetConfig(s)
	require.NoError(t, err)
	c := issue(t, a, "a", 2).Body()
	assert.Equal(t, time.Hour, c.NotAfter.Sub(c.IssuedAt))
	_, err = a.Issue(Request{Name: "a", Key: keyOf(2), Lifetime: 2 * time.Hour})
	assert.ErrorIs(t, err, ErrLifetime)
	cert, err := a.Issue(Request{Name: "a", Key: keyOf(2), Lifetime: time.Minute})
	require.NoError(t, err)
	assert.Equal(t, time.Minute, cert.Body().NotAfter.Sub(cert.Body().IssuedAt))
}

func TestRevoke(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "a", 2)
	victim := issue(t, a, "a", 2)
	other := issue(t, a, "b", 3)
	signed, err := a.Revoke(victim.Member(), "stolen")
	require.NoError(t, err)
	assert.Equal(t, uint64(1), signed.Body().Version)
	assert.Equal(t, uint64(2), signed.Body().Serial, "its last certificate")
	assert.Equal(t, "stolen", signed.Body().Reason)

	_, err = a.Revoke(victim.Member(), "again")
	assert.ErrorIs(t, err, ErrRevoked)
	_, err = a.Issue(Request{Name: "z", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrRevoked)
	_, err = a.Revoke(other.Member(), "two\nlines")
	assert.ErrorIs(t, err, certificate.ErrReason)

	stranger := ident.Member{9}
	signed, err = reopen(t, d).Revoke(stranger, "")
	require.NoError(t, err)
	assert.Equal(t, uint64(2), signed.Body().Version)
	assert.Zero(t, signed.Body().Serial)
	assert.Equal(t, uint64(2), issue(t, a, "c", 4).Body().RevocationVersion)

	_, revocations := published(t, d)
	require.Len(t, revocations, 2)
	assert.Equal(t, victim.Member(), revocations[0].Body().Member)
	assert.Equal(t, stranger, revocations[1].Body().Member)
	assert.Len(t, blocks(t, d, fmt.Sprintf("revoked/00000001-%v.rev", victim.Member())), 1)
}

func TestGroupFile_AfterRevocations_Newest(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	s := create(t, d).ledger.state
	for i := range maxPublished + 2 {
		r := Revoked{Version: uint64(i + 1)}
		s.revocations = append(s.revocations, revocation{Revoked: r, raw: fmt.Appendf(nil, "%400d", r.Version)})
	}
	require.NoError(t, folder{d, testDir}.publishGroup(s))
	b := blocks(t, d, GroupFile)
	assert.Len(t, b, 1+maxPublished)
	assert.Equal(t, "3", strings.TrimSpace(string(b[1].Bytes)))
	assert.Equal(t, fmt.Sprint(maxPublished+2), strings.TrimSpace(string(b[maxPublished].Bytes)))
}

func TestEncryptedKey(t *testing.T) {
	d := faultDisk{faultfs.New(1)}
	_, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo", Secret: []byte("sesame")})
	require.NoError(t, err)
	asked := 0
	open := func(secret string) *Authority {
		o := options(d)
		o.Passphrase = func() ([]byte, error) { asked++; return []byte(secret), nil }
		a, err := Open(testDir, o)
		require.NoError(t, err)
		return a
	}
	a := open("sesame")
	_, err = a.List()
	require.NoError(t, err)
	assert.Zero(t, asked, "nothing was signed")
	issue(t, a, "a", 2)
	issue(t, a, "b", 3)
	assert.Equal(t, 1, asked)

	_, err = open("other").Issue(Request{Name: "c", Key: keyOf(4)})
	assert.ErrorIs(t, err, keyfile.ErrPassphrase)
	_, err = reopen(t, d).SetConfig(settings("ftp"))
	assert.ErrorIs(t, err, keyfile.ErrPassphraseNeeded)
	_, err = reopen(t, d).Revoke(ident.Member{1}, "")
	assert.ErrorIs(t, err, keyfile.ErrPassphraseNeeded)
}

// looseDisk says that everybody may read everything.
type looseDisk struct{ faultDisk }

func (looseDisk) Mode(string) (mode osMode, err error) { return 0o644, nil }

func TestOpen_KeyReadableByOthers_Refused(t *testing.T) {
	_, d := fresh(t)
	a, err := Open(testDir, options(looseDisk{d}))
	require.NoError(t, err)
	_, err = a.Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, keyfile.ErrMode)
}

func TestOpen_KeyOfAnotherAuthority_Refused(t *testing.T) {
	_, d := fresh(t)
	o := options(d)
	o.Rand = bytes.NewReader(make([]byte, 32))
	_, err := Create("/other", CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	require.NoError(t, d.Rename("/other/ca.key", "/ca/ca.key"))
	_, err = reopen(t, d).Issue(Request{Name: "a", Key: keyOf(2)})
	assert.ErrorIs(t, err, ErrKeyMismatch)
}

func TestLocked(t *testing.T) {
	a, d := fresh(t)
	held, err := d.Lock(filepath.Join(testDir, lockFile))
	require.NoError(t, err)
	released := make(chan error, 1)
	go func() { _, err := a.List(); released <- err }()
	require.NoError(t, held.Close())
	assert.NoError(t, <-released)
}

func TestSerial_ManyProcesses_NeverTwice(t *testing.T) {
	const processes, each = 4, 5
	dir := t.TempDir()
	o := Options{Now: time.Now}
	_, err := Create(dir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for p := range byte(processes) {
		wg.Go(func() {
			a, err := Open(dir, o)
			assert.NoError(t, err)
			for i := range byte(each) {
				_, err := a.Issue(Request{Name: fmt.Sprintf("m-%d-%d", p, i), Key: keyOf(10 + p*each + i)})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	a, err := Open(dir, o)
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	require.Len(t, l.Records, processes*each)
	for i, r := range l.Records {
		assert.Equal(t, uint64(i+1), r.Serial)
	}
	_, err = osDisk{store.OS()}.Mode(filepath.Join(dir, KeyFile))
	assert.NoError(t, err)
}

func TestOnDisk_Key_Secret(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "ca")
	_, err := Create(dir, CreateOptions{Name: "demo"})
	require.NoError(t, err)
	mode, err := osDisk{store.OS()}.Mode(filepath.Join(dir, KeyFile))
	require.NoError(t, err)
	assert.Equal(t, osMode(0o600), mode.Perm())
}

func TestConfigure_PolicyOutOfRange_ErrorNamesIt(t *testing.T) {
	a, _ := fresh(t)
	s := settings("ftp")
	s.Resources[0].OperationTime = -1
	_, err := a.SetConfig(s)
	assert.ErrorIs(t, err, policy.ErrOutOfRange)
}
