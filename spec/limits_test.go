package spec_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// boundedIn are the packages whose exported constants Max… are in the table of limits.
var boundedIn = []string{
	"canonical", "envelope", "certificate", "group", "token", "wire", "directory", "ident", "handoff", "transport", "journal", "keyfile",
	"evidence", "api",
}

// boundsBesides are further ones of these packages.
var boundsBesides = []string{
	"wire.ConfigurationPart", "directory.Attachments", "evidence.Kept",
	"transport.KnownHandshakes", "transport.PrefixHandshakes", "transport.HandshakesPerSecond", "transport.HandshakeBurst",
	"transport.RetryAbove", "transport.FramesPerSecond", "transport.DefaultIdleTimeout", "transport.DefaultSilence",
	"transport.HandshakeTimeout", "transport.PreambleTimeout", "transport.StallTimeout", "transport.Linger", "transport.MinBackOff",
}

// notBounds are constants that bound nothing that another member, or an operator, can see,
// or that follow from others.
var notBounds = []string{
	"envelope.MaxSize", "token.MaxMeasure", "token.MaxCause",
	"member.ProtocolVersion", "member.entryHead", "member.killMargin", "member.lookEvery", "member.knownKept", "member.writePause",
	"member.maxJournalled", "member.visitsKept", "member.Founding", "member.foundingAsk", "member.slotsNamed", "member.votersNamed",
	"member.PassesNoTokens",
}

// bound is constants that one comment explains.
type bound struct {
	doc   string
	paths []string
}

// bounds are those of the table of limits: what boundedIn and boundsBesides say, and all
// rates and bounds of a member and its updates, which the code does not export.
func (s *source) bounds() (list []bound) {
	add := func(pkg string, is func(name string) bool) {
		for _, c := range s.documented(pkg) {
			if !is(c.name) || slices.Contains(notBounds, pkg+"."+c.name) {
				continue
			}
			if n := len(list); n > 0 && list[n-1].doc == c.doc {
				list[n-1].paths = append(list[n-1].paths, pkg+"."+c.name)
				continue
			}
			list = append(list, bound{c.doc, []string{pkg + "." + c.name}})
		}
	}
	for _, pkg := range boundedIn {
		add(pkg, func(name string) bool {
			return strings.HasPrefix(name, "Max") || slices.Contains(boundsBesides, pkg+"."+name)
		})
	}
	for _, pkg := range []string{"update", "member"} {
		add(pkg, func(name string) bool { return !strings.HasPrefix(name, "Kind") })
	}
	return list
}

// subject is how the comment of a bound begins.
var boundSubject = regexp.MustCompile(`^[a-zA-Z]+( and [a-zA-Z]+)? (bounds?|is|are) `)

// limitTable is the bounds, each with the first sentence of its comment in the code.
func limitTable(t *testing.T) *table {
	s, out := newSource(t), newTable("bound", "value", "in the code")
	for _, b := range s.bounds() {
		require.NotEmpty(t, b.doc, "%v: a bound without a comment", b.paths)
		var values []string
		for _, path := range b.paths {
			values = append(values, s.show(path))
		}
		what := strings.TrimSuffix(boundSubject.ReplaceAllString(b.doc, ""), ".")
		out.row(what, strings.Join(values, ", "), "`"+strings.Join(b.paths, "`, `")+"`")
	}
	return out
}

// settingsTable is what a group configuration permits.
func settingsTable() *table {
	t := newTable("field", "permitted", "if it is not given")
	ms := func(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
	between := func(low, high any) string { return fmt.Sprintf("%v to %v", low, high) }
	for _, f := range []struct{ name, permitted, absent string }{
		{"`members_max`", between(1, group.MaxMembers), fmt.Sprint(group.DefaultMembersMax)},
		{"`update_capacity`", between(1, group.MaxUpdateCapacity), fmt.Sprint(group.DefaultUpdateCapacity)},
		{"`failure_quorum`", between(group.MinFailureQuorum, group.MaxFailureQuorum), fmt.Sprint(group.DefaultFailureQuorum)},
		{"`certificate_lifetime`", between(ms(group.MinCertificateLifetime), ms(group.MaxLifetime)), ms(group.DefaultCertificateLifetime)},
		{"`clock_allowance`", between(ms(group.MinClockAllowance), ms(group.MaxClockAllowance)), ms(group.DefaultClockAllowance)},
		{"`settlement_time`", between(ms(group.MinSettlementTime), ms(group.MaxLifetime)), ms(group.DefaultSettlementTime)},
		{"`gossip_interval`", between(ms(group.MinGossipInterval), ms(group.MaxGossipInterval)), ms(group.DefaultGossipInterval)},
		{"`silence`", between(ms(group.MinSilence), ms(group.MaxSilence)), ms(group.DefaultSilence)},
		{"`policy` of a resource", "a name", group.DefaultPolicy},
		{"`preset`", "empty, or a name", "empty: the policy's default"},
		{"`slots`", between(1, group.MaxSlots), "1"},
		{"`max_hold`", between(ms(policy.MinDuration), ms(policy.MaxOperationTime)), "`operation_time`"},
		{"`on_isolated`", between(uint64(policy.Continue), uint64(policy.Majority)), "0"},
	} {
		t.row(f.name, f.permitted, f.absent)
	}
	return t
}

// units are the units of a parameter.
var units = map[policy.Quantity]string{
	policy.Span: "milliseconds", policy.Count: "number", policy.Thousandths: "thousandths", policy.Flag: "1 for yes", policy.Choice: "1 for `replace`",
}

// parameterTable is what a policy can be told.
func parameterTable() *table {
	t := newTable("key", "parameter", "unit", "permitted", "used by")
	for _, p := range policy.Parameters {
		low, high := p.Range()
		permitted := fmt.Sprintf("%d to %d", low, high)
		if low == high {
			permitted = fmt.Sprint(low)
		}
		by := "all; never absent"
		if p.Optional {
			by = usersOf(p.Name)
		}
		t.row(fmt.Sprint(p.Key), "`"+p.Name+"`", units[p.Quantity], permitted, by)
	}
	return t
}

// usersOf are the policies that use an optional parameter, with the presets
// where not all of them do.
func usersOf(parameter string) string {
	var users []string
	for _, name := range catalog.Names() {
		var presets []string
		for _, p := range catalog.Presets(name) {
			if slices.Contains(p.Uses, parameter) {
				presets = append(presets, p.Name)
			}
		}
		switch len(presets) {
		case 0:
		case len(catalog.Presets(name)):
			users = append(users, "`"+name+"`")
		default:
			users = append(users, "`"+name+"` ("+strings.Join(presets, ", ")+")")
		}
	}
	return strings.Join(users, ", ")
}

// presetTable is which presets the policies have.
func presetTable() *table {
	t := newTable("policy", "presets, the default first")
	for _, name := range catalog.Names() {
		var presets []string
		for _, p := range catalog.Presets(name) {
			presets = append(presets, "`"+p.Name+"`")
		}
		t.row("`"+name+"`", strings.Join(presets, ", "))
	}
	return t
}

// refusing is a backend that grants nothing, for one reason.
type refusing struct {
	api.Backend
	reason error
}

func (r refusing) Release(api.ReleaseRequest) error { return r.reason }

// apiRefusals are the reasons of the local API to refuse.
var apiRefusals = []struct {
	err           error
	name, meaning string
}{
	{api.ErrNotGranted, "api.ErrNotGranted", "no token came in time"},
	{api.ErrNotDue, "api.ErrNotDue", "the operation ran too recently (`once_per_ms`)"},
	{api.ErrHeld, "api.ErrHeld", "the program itself runs under a grant of this resource (`held`)"},
	{api.ErrIsolated, "api.ErrIsolated", "cut off from every peer, and not holding the token"},
	{api.ErrRevoked, "api.ErrRevoked", "the member's own certificate is not valid"},
	{api.ErrRefused, "api.ErrRefused", "the group configuration has no such resource"},
	{api.ErrUnavailable, "api.ErrUnavailable", "the daemon stops, or has no room"},
	{api.ErrBadRequest, "api.ErrBadRequest", "not understood"},
	{api.ErrInternal, "api.ErrInternal", "the daemon failed"},
}

// answered is what the local API answers for a reason to refuse.
func answered(t *testing.T, reason error) (code string, status int) {
	w := httptest.NewRecorder()
	body := fmt.Sprintf(`{"grant":%q}`, ident.Grant{})
	request := httptest.NewRequest(http.MethodPost, "/v1/release", strings.NewReader(body))
	api.NewHandler(refusing{reason: reason}).ServeHTTP(w, request)
	var reply struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
	return reply.Error.Code, w.Code
}

// apiTable is what the local API answers for each reason to refuse.
func apiTable(t *testing.T) *table {
	out := newTable("code", "HTTP", "error", "meaning")
	for _, c := range apiRefusals {
		code, status := answered(t, c.err)
		out.row("`"+code+"`", fmt.Sprint(status), "`"+c.name+"`", c.meaning)
	}
	return out
}
