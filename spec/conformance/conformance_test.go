package conformance

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain runs all tests at once, whatever the number of processors: they wait
// for most of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "32")
	os.Exit(m.Run())
}

// The project's own member, over real QUIC, passes every check.
func TestNode_AllChecks_Conforms(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	n := openNode(t, a, revoked.Certificate.Member())
	o := a.options(t, n.Address(), revoked)
	for _, c := range Checks() {
		if c.Name != "late-preamble" && c.Name != "quiet-connection" { // they have tests of their own
			o.Only = append(o.Only, c.Name)
		}
	}
	report, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, report.Results, len(o.Only))
	for _, r := range report.Results {
		assert.Equal(t, Pass, r.Verdict, "%s: %s", r.Name, r.Detail)
	}
	assert.Zero(t, report.Left, "tokens that did not come back, of %d", report.Made)
}

// The one check that waits for a time of the protocol's has a test of its own, so
// that it runs beside the others.
func TestLatePreamble(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	o := a.options(t, openNode(t, a, revoked.Certificate.Member()).Address(), revoked)
	o.Only = []string{"late-preamble"}
	report, err := Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, Pass, report.Results[0].Verdict, report.Results[0].Detail)

	o.Timeout = 5 * time.Second
	report, err = Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, Skipped, report.Results[0].Verdict)
	assert.Contains(t, report.Results[0].Detail, "needs a timeout above 6s")
}

// A connection bears a check that waits in silence for longer than QUIC does, at a node
// that says nothing by itself meanwhile: the next gossip is in half a minute.
func TestQuietConnection(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	o := a.options(t, openNode(t, a, revoked.Certificate.Member()).Address(), revoked)
	o.Only = []string{"quiet-connection"}
	report, err := Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, Pass, report.Results[0].Verdict, report.Results[0].Detail)
}

// What a check needs and was not given, it says.
func TestChecks_Skipped_Reported(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	o := a.options(t, newSubject(t, a, revoked.Certificate.Member(), faults{}).l.Addr().String(), revoked)
	o.Revoked, o.Expired, o.Newer = nil, nil, nil
	o.Only = []string{"newer-configuration"}
	report, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, 1, report.Count(Skipped))
	assert.Contains(t, report.Results[0].Detail, "needs a group file with a newer configuration")
	o.Only = []string{"revoked-member", "expired-certificate"}
	report, err = Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, 2, report.Count(Skipped))
	for _, r := range report.Results {
		assert.Contains(t, r.Detail, "needs a member of the group")
	}

	stranger, expired := newAuthority(t).issue(t, "stranger", time.Hour), newAuthority(t).issue(t, "expired", -time.Hour)
	o.Revoked, o.Expired = &stranger, &expired
	report, err = Run(context.Background(), o)
	require.NoError(t, err)
	assert.Equal(t, 2, report.Count(Skipped))
	for _, r := range report.Results {
		assert.Contains(t, r.Detail, "by a CA key that does not count")
	}
}

func TestRun_CannotBegin_Error(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	address := newSubject(t, a, revoked.Certificate.Member(), faults{}).l.Addr().String()
	for name, c := range map[string]struct {
		change func(*Options)
		want   error
	}{
		"no identity":         {func(o *Options) { o.Identity = Identity{} }, ErrOptions},
		"no such resource":    {func(o *Options) { o.Resource = "nobody-has-this" }, ErrOptions},
		"nothing is gone":     {func(o *Options) { o.Newer = o.Group }, ErrOptions},
		"no such check":       {func(o *Options) { o.Only = []string{"nobody-has-this"} }, ErrOptions},
		"no address":          {func(o *Options) { o.Address = "here" }, ErrUnreachable},
		"an expired identity": {func(o *Options) { o.Identity = *o.Expired }, ErrRefused},
		"another group":       {func(o *Options) { o.Group = newAuthority(t).group }, ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			o := a.options(t, address, revoked)
			c.change(&o)
			_, err := Run(context.Background(), o)
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func TestIdentity_OfTheMemberItself_Refused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	s := newSubject(t, a, a.issue(t, "revoked", time.Hour).Certificate.Member(), faults{})
	o := a.options(t, s.l.Addr().String(), a.issue(t, "other", time.Hour))
	o.Identity = s.Identity
	_, err := Run(context.Background(), o)
	require.ErrorIs(t, err, ErrOptions)
	assert.ErrorContains(t, err, "the member under test itself")
}

// When the member dies, the run ends: the other checks would say nothing of it.
//
// It is not parallel: the others keep a machine so busy for a moment that a member may
// seem to have died.
func TestRun_MemberDies_Reported(t *testing.T) {
	a := newAuthority(t)
	s := newSubject(t, a, a.issue(t, "revoked", time.Hour).Certificate.Member(), faults{})
	o := a.options(t, s.l.Addr().String(), a.issue(t, "other", time.Hour))
	o.Timeout = 3 * time.Second // for a slow machine to answer as long as it lives
	o.Progress = func(r Result) {
		if r.Name == "alpn" {
			s.run.quic.Conn.Close()
		}
	}
	report, err := Run(context.Background(), o)
	require.ErrorIs(t, err, ErrGone)
	assert.Equal(t, "no-certificate", report.Results[len(report.Results)-1].Name)
}

// A run that is interrupted tells what it has found, and still takes leave.
func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	revoked := a.issue(t, "revoked", time.Hour)
	o := a.options(t, newSubject(t, a, revoked.Certificate.Member(), faults{}).l.Addr().String(), revoked)
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(r Result) {
		if r.Name == "alpn" {
			cancel()
		}
	}
	report, err := Run(ctx, o)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "alpn", report.Results[len(report.Results)-1].Name)
}

// Every check has a name of its own, a sentence, and requirements that the
// specification has.
func TestChecks_Each_Named(t *testing.T) {
	var text []byte
	files, err := filepath.Glob("../*.md")
	require.NoError(t, err)
	policies, err := filepath.Glob("../policy/*.md")
	require.NoError(t, err)
	for _, file := range append(files, policies...) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		text = append(text, raw...)
	}
	seen := map[string]bool{}
	for _, c := range Checks() {
		assert.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		assert.True(t, strings.HasSuffix(c.Does, "."), c.Name)
		assert.NotEmpty(t, c.Requirements, c.Name)
		for _, id := range c.Requirements {
			assert.Contains(t, string(text), "\n**"+id+"** ", c.Name)
		}
	}
}
