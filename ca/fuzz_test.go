package ca

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/fuzz/memory"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

var update = flag.Bool("update", false, "write the seed corpora anew")

// The seeds are made anew by go test ./ca -run TestSeeds -update; see package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *update) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{
		"FuzzLog":       {Check: checkLog, Seeds: logSeeds},
		"FuzzAuthority": {Check: checkLife, Seeds: lifeSeeds},
	}
}

// helper makes fixtures where there is no test, and panics where one would fail.
type helper struct{ testing.TB }

func (helper) Helper()               {}
func (helper) Errorf(string, ...any) { panic("fixture") }
func (helper) FailNow()              { panic("fixture") }

// FuzzLog: the log of an authority. It is refused as damaged, or read; every line
// is the only spelling of what it says. Besides, its lines are chained anew, so that
// what they say is looked at although a line was altered.
//
//fuzz:of ca
func FuzzLog(f *testing.F) { fuzzTargets["FuzzLog"].Fuzz(f) }

func checkLog(t require.TestingT, data []byte) bool {
	chainedAnew(t, data)
	end, err := chain{}.read("log", data, newState().take)
	if err != nil {
		var damage *damageError
		require.ErrorAs(t, err, &damage)
		return false
	}
	require.LessOrEqual(t, end.size, int64(len(data)))
	whole, err := chain{}.read("log", data[:end.size], newState().take)
	require.NoError(t, err)
	require.Equal(t, end, whole)
	return end.sequence > 0
}

// chainedAnew has the state take what the lines say, whatever their hashes.
func chainedAnew(t require.TestingT, data []byte) {
	var c chain
	var text []byte
	s := newState()
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		var e entry
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		e, encoded, err := c.encode(e)
		if err != nil || s.take(e) != nil {
			break
		}
		c.follow(e, len(encoded))
		text = append(text, encoded...)
	}
	end, err := chain{}.read("log", text, newState().take)
	require.NoError(t, err, "lines that were taken once")
	require.Equal(t, c, end)
}

// logSeeds are the same whichever tests came before: the authority's number is fixed.
func logSeeds() map[string][]byte {
	d := faultDisk{faultfs.New(1)}
	a := createWith(helper{}, optionsOf(d, 2))
	configure(helper{}, a)
	issue(helper{}, a, "a", 2)
	_, err := a.Revoke(ident.Member{1}, "lost")
	if err != nil {
		panic(err)
	}
	invited, err := a.Invite("b", 0)
	if err != nil {
		panic(err)
	}
	if _, err = a.Cancel(InviteID(invited.ID).String()); err != nil {
		panic(err)
	}
	log, err := d.ReadFile(filepath.Join(testDir, LogFile), -1)
	if err != nil {
		panic(err)
	}
	gate, err := a.InviteGate("gate", 0)
	if err == nil {
		_, err = a.Redeem(gate.ID, gate.Secret, "gate", keyOf(4))
	}
	if err != nil {
		panic(err)
	}
	withGate, err := d.ReadFile(filepath.Join(testDir, LogFile), -1)
	if err != nil {
		panic(err)
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	flipped := bytes.Clone(log)
	flipped[len(flipped)/2] ^= 1
	return map[string][]byte{
		"good-usual":     log,
		"good-gate":      withGate,
		"bad-role":       bytes.ReplaceAll(withGate, []byte(`"role":"gate"`), []byte(`"role":"mate"`)),
		"good-torn":      log[:len(log)-20],
		"good-zeros":     append(bytes.Clone(log), make([]byte, 40)...),
		"good-first":     lines[0],
		"bad-nothing":    {},
		"bad-flipped":    flipped,
		"bad-order":      bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil),
		"bad-beginning":  lines[1],
		"bad-no-line":    []byte("{}\n"),
		"bad-large-line": append([]byte(`{"v":1,"name":"`), append(bytes.Repeat([]byte("a"), 1000), '\n')...),
	}
}

// FuzzAuthority: a life of an authority, with crashes between any two writes. A
// serial number is never used twice, what was acknowledged is there after the
// crash, the dead stay dead, versions only rise, and it can always be opened again.
//
//fuzz:of ca
func FuzzAuthority(f *testing.F) { fuzzTargets["FuzzAuthority"].Fuzz(f) }

// lifeEvents bounds a script: an event signs, and writes some files.
const lifeEvents = 8

// The events of a script, each a byte with what it needs behind it.
const (
	lifeIssue     = iota // name, key
	lifeRevoke           // key
	lifeInvite           // name
	lifeRedeem           // which invite, key
	lifeCancel           // which invite
	lifeLeave            // key
	lifeRenew            // key
	lifeConfigure        // which of some configurations
	lifeRotate           // -: the next step of a rotation
	lifeReopen           // -
	lifeCrash            // after how many writes from now
	lifeKinds
)

var (
	lifeNames = []string{"a", "b", "c", ""}
	lifeKeys  = makeLifeKeys()
	// lifeDisk is that of an authority with a configuration, made once.
	lifeDisk = func() *faultfs.FS { _, d := fresh(helper{}); return d.FS }()
)

func makeLifeKeys() (list [4]*signature.PrivateKey) {
	remembered := memory.New()
	for i := range list {
		key, err := remembered.PrivateKey(bytes.Repeat([]byte{byte(i + 40)}, signature.SeedSize))
		if err != nil {
			panic(err)
		}
		list[i] = key
	}
	return list
}

// life is an authority, and what it has acknowledged.
type life struct {
	require.TestingT
	*bytes.Reader
	bad     bool
	disk    *faultfs.FS
	a       *Authority
	serials map[uint64]ident.Hash
	dead    map[ident.Member]error
	doubted map[ident.Member]error // what else they may be since a crash: it was not acknowledged
	version uint64
	invites []Invited
	used    map[[inviteIDSize]byte]ident.Member
	turned  int // steps of rotations
	opened  byte
}

// checkLife accepts scripts that are whole.
func checkLife(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	l := &life{
		TestingT: t, Reader: bytes.NewReader(data), disk: lifeDisk.Kill(), serials: make(map[uint64]ident.Hash),
		dead: make(map[ident.Member]error), doubted: make(map[ident.Member]error), used: make(map[[inviteIDSize]byte]ident.Member),
	}
	l.open()
	for range lifeEvents {
		if l.Len() == 0 {
			break
		}
		err := l.event()
		if l.bad {
			return false
		}
		if l.disk.Crashed() {
			l.disk = l.disk.PowerLoss()
			l.open()
			l.stands()
		} else {
			require.NotErrorIs(t, err, ErrBroken)
			require.NotErrorIs(t, err, ErrDamaged)
		}
	}
	l.open()
	l.stands()
	return l.Len() == 0
}

func (l *life) byte() byte {
	b, err := l.ReadByte()
	l.bad = l.bad || err != nil
	return b
}

// open opens the authority. The randomness of each process is its own, and the same
// for the same script.
func (l *life) open() {
	l.opened++
	o := options(faultDisk{l.disk})
	o.Rand = rand.NewChaCha8([32]byte{1, l.opened})
	a, err := Open(testDir, o)
	if l.disk.Crashed() {
		l.disk = l.disk.PowerLoss()
		l.open()
		return
	}
	require.NoError(l, err, "what was acknowledged can be opened")
	l.a = a
}

func (l *life) key() *signature.PrivateKey { return lifeKeys[l.byte()%byte(len(lifeKeys))] }

func (l *life) member(key *signature.PrivateKey) ident.Member {
	raw := key.Public().Bytes()
	return ident.MemberOf(l.a.Group(), raw[:])
}

// event performs the next one.
func (l *life) event() error {
	kind := l.byte()
	l.bad = l.bad || kind >= lifeKinds
	switch kind {
	case lifeIssue:
		name := lifeNames[l.byte()%byte(len(lifeNames))]
		return l.issued(l.a.Issue(Request{Name: name, Key: l.key().Public()}))
	case lifeRevoke:
		m := l.member(l.key())
		if _, err := l.a.Revoke(m, ""); err != nil {
			if l.disk.Crashed() {
				l.doubted[m] = ErrRevoked
			}
			return err
		}
		l.dead[m] = ErrRevoked
	case lifeInvite:
		i, err := l.a.Invite(lifeNames[l.byte()%byte(len(lifeNames))], 0)
		if err != nil {
			return err
		}
		l.invites = append(l.invites, i)
	case lifeRedeem, lifeCancel:
		return l.invited(kind)
	case lifeLeave:
		return l.leaves(l.key())
	case lifeRenew:
		return l.issued(l.a.Renew(l.member(l.key())))
	case lifeConfigure:
		c, err := l.a.SetConfig(settings(fmt.Sprintf("r%d", l.byte()%3)))
		if err != nil {
			return err
		}
		require.Greater(l, c.Version(), l.version)
		l.version = c.Version()
	case lifeRotate:
		l.turned++
		return rotationSteps[(l.turned-1)%len(rotationSteps)](l.a)
	case lifeReopen:
		l.open()
	case lifeCrash:
		l.disk.CrashAt(l.disk.Ops() + 1 + int(l.byte()%32))
	}
	return nil
}

// issued books a certificate.
func (l *life) issued(c certificate.Certificate, err error) error {
	if err != nil {
		return err
	}
	require.NoError(l, l.dead[c.Member()], "a certificate for the dead")
	serial := c.Body().Serial
	if before, ok := l.serials[serial]; ok {
		require.Equal(l, before, c.Hash(), "serial number %d twice", serial)
	}
	l.serials[serial] = c.Hash()
	return nil
}

// invited uses an invite, or takes it back.
func (l *life) invited(kind byte) error {
	n, key := int(l.byte()), l.key()
	if len(l.invites) == 0 {
		return nil
	}
	i := l.invites[n%len(l.invites)]
	if kind == lifeCancel {
		_, err := l.a.Cancel(InviteID(i.ID).String())
		return err
	}
	c, err := l.a.Redeem(i.ID, i.Secret, i.Name, key.Public())
	if err != nil {
		return err
	}
	if by, ok := l.used[i.ID]; ok {
		require.Equal(l, by, c.Member(), "an invite used twice")
	}
	l.used[i.ID] = c.Member()
	return l.issued(c, nil)
}

func (l *life) leaves(key *signature.PrivateKey) error {
	m := l.member(key)
	signed, err := certificate.Leave{Member: m, Time: 1}.Sign(l.a.Group(), key)
	require.NoError(l, err)
	if err := l.a.Left(signed.Raw()); err != nil {
		return err
	}
	if l.dead[m] == nil {
		l.dead[m] = ErrLeft
	}
	return nil
}

// stands checks that what was acknowledged is there.
func (l *life) stands() {
	list, err := l.a.List()
	if l.disk.Crashed() { // while it was looked at
		l.disk = l.disk.PowerLoss()
		l.open()
		list, err = l.a.List()
	}
	require.NoError(l, err)
	for serial := range l.serials {
		require.True(l, slices.ContainsFunc(list.Records, func(r Record) bool { return r.Serial == serial }), "certificate %d is gone", serial)
	}
	for m, why := range l.dead {
		if err := l.a.Eligible(m); l.doubted[m] == nil || !errors.Is(err, l.doubted[m]) {
			require.ErrorIs(l, err, why)
		}
	}
	require.GreaterOrEqual(l, l.a.Config().Version(), l.version)
}

func lifeSeeds() map[string][]byte {
	usual := []byte{
		lifeIssue, 0, 0, lifeIssue, 1, 1, lifeRevoke, 0, lifeInvite, 2, lifeRedeem, 0, 2, lifeLeave, 1, lifeConfigure, 1, lifeRenew, 2,
	}
	seeds := map[string][]byte{
		"good-usual":    usual,
		"good-rotation": {lifeIssue, 0, 0, lifeRotate, lifeIssue, 1, 1, lifeRotate, lifeRenew, 0, lifeRotate, lifeReopen, lifeIssue, 2, 2},
		"good-invites":  {lifeInvite, 0, lifeInvite, 1, lifeCancel, 0, 0, lifeRedeem, 0, 1, lifeRedeem, 1, 1, lifeRedeem, 1, 2, lifeRevoke, 1, lifeInvite, 1},
		"bad-empty":     {}, "bad-event": {lifeKinds}, "bad-half": {lifeIssue, 1}, "bad-long": bytes.Repeat([]byte{lifeReopen}, lifeEvents+1),
	}
	for _, n := range []byte{0, 2, 5, 9, 14} {
		seeds[fmt.Sprintf("good-crash-%d", n)] = append([]byte{lifeCrash, n}, usual[:8]...)
		seeds[fmt.Sprintf("good-crash-late-%d", n)] = slices.Concat(usual[:8], []byte{lifeCrash, n}, usual[8:15])
		seeds[fmt.Sprintf("good-crash-rotation-%d", n)] = []byte{lifeIssue, 0, 0, lifeCrash, n, lifeRotate, lifeRotate, lifeIssue, 1, 1}
	}
	return seeds
}
