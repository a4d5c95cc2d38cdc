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

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/evidence"
	gatewire "github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// notBounds are constants of a member that bound nothing that another member, or an operator,
// can see.
var notBounds = []string{
	"member.ProtocolVersion", "member.entryHead", "member.killMargin", "member.lookEvery", "member.knownKept", "member.writePause",
	"member.maxJournalled", "member.visitsKept", "member.Founding", "member.foundingAsk", "member.slotsNamed", "member.votersNamed",
	"member.PassesNoTokens", "member.GateUnanswered", "member.GateBusy", "member.GateStuck", "member.GateRefuses", "member.GateUseless",
}

// bound is constants that one comment explains.
type bound struct {
	doc   string
	paths []string
}

// bounds are all rates and bounds of a member and its updates.
func (s *source) bounds() (list []bound) {
	for _, pkg := range []string{"update", "member"} {
		for _, c := range s.documented(pkg) {
			path := pkg + "." + c.name
			if strings.HasPrefix(c.name, "Kind") || slices.Contains(notBounds, path) {
				continue
			}
			if n := len(list); n > 0 && list[n-1].doc == c.doc {
				list[n-1].paths = append(list[n-1].paths, path)
				continue
			}
			list = append(list, bound{c.doc, []string{path}})
		}
	}
	return list
}

// subject is how the comment of a bound begins.
var boundSubject = regexp.MustCompile(`^[a-zA-Z]+( and [a-zA-Z]+)? (bounds?|is|are) `)

// limitTable is the bounds: those of a member each with the first sentence of its comment in
// the code.
func limitTable(t *testing.T) *table {
	s, out := newSource(t), newTable("bound", "value", "in the code")
	for _, l := range []struct {
		what  string
		value any
		name  string
	}{
		{"entries of an extensions map", canonical.MaxExtensions, "canonical.MaxExtensions"},
		{"bytes of an extension's value", canonical.MaxExtensionBytes, "canonical.MaxExtensionBytes"},
		{"bytes of an envelope's payload", envelope.MaxPayload, "envelope.MaxPayload"},
		{"bytes of the payload of a configuration", envelope.MaxConfiguration, "envelope.MaxConfiguration"},
		{"bytes of a payload about a member", certificate.MaxPayload, "certificate.MaxPayload"},
		{"bytes of a member's name", certificate.MaxName, "certificate.MaxName"},
		{"addresses of a member", certificate.MaxAddresses, "certificate.MaxAddresses"},
		{"bytes of an address", certificate.MaxAddress, "certificate.MaxAddress"},
		{"members that one is attached to", certificate.MaxAttached, "certificate.MaxAttached"},
		{"bytes of a revocation's reason", certificate.MaxReason, "certificate.MaxReason"},
		{"CA keys of a group", group.MaxAuthorities, "group.MaxAuthorities"},
		{"resources of a group", group.MaxResources, "group.MaxResources"},
		{"slots of all resources together", group.MaxTokens, "group.MaxTokens"},
		{"bytes of the name of a policy or preset", group.MaxName, "group.MaxName"},
		{"slots of a resource", group.MaxSlots, "group.MaxSlots"},
		{"bytes of a resource's name", token.MaxResourceName, "token.MaxResourceName"},
		{"bytes of the policy field", token.MaxField, "token.MaxField"},
		{"bytes of a policy message's body", wire.MaxPolicyBody, "wire.MaxPolicyBody"},
		{"bytes of a frame's body", wire.MaxFrame, "wire.MaxFrame"},
		{"bytes of a signed object in a message", wire.MaxObject, "wire.MaxObject"},
		{"bytes of a group configuration", wire.MaxConfiguration, "wire.MaxConfiguration"},
		{"bytes of a group configuration in one message", wire.ConfigurationPart, "wire.ConfigurationPart"},
		{"signers of a title", wire.MaxSigners, "wire.MaxSigners"},
		{"updates beside a TRANSFER or RECEIPT", wire.MaxUpdates, "wire.MaxUpdates"},
		{"entries of a page", wire.MaxPage, "wire.MaxPage"},
		{"failure statements in an entry", wire.MaxFailures, "wire.MaxFailures"},
		{"failure statements that are kept about one member", directory.MaxFailureQuorum, "directory.MaxFailureQuorum"},
		{"members to which one in mode 2 is attached", directory.Attachments, "directory.Attachments"},
		{"parts of a SUMMARY", wire.MaxParts, "wire.MaxParts"},
		{"CA keys beside a group configuration", wire.MaxVouchers, "wire.MaxVouchers"},
		{"members of a directory", directory.MaxMembers, "directory.MaxMembers"},
		{"members of a sample of these", directory.MaxSample, "directory.MaxSample"},
		{"highest hop of a token", uint64(ident.MaxHop), "ident.MaxHop"},
		{"tokens in custody of one member", handoff.MaxHeld, "handoff.MaxHeld"},
		{"live reservations", handoff.MaxReservations, "handoff.MaxReservations"},
		{"live reservations of one peer", handoff.MaxReservationsPerPeer, "handoff.MaxReservationsPerPeer"},
		{"records of one peer's unsettled transfers", handoff.MaxUnsettled, "handoff.MaxUnsettled"},
		{"connections", transport.MaxConnections, "transport.MaxConnections"},
		{"inbound handshakes in progress", transport.MaxHandshakes, "transport.MaxHandshakes"},
		{"of these from the addresses of known members alone", transport.KnownHandshakes, "transport.KnownHandshakes"},
		{"of the others from one /24 of IPv4 or /48 of IPv6", transport.PrefixHandshakes, "transport.PrefixHandshakes"},
		{"inbound handshakes each second", transport.HandshakesPerSecond, "transport.HandshakesPerSecond"},
		{"inbound handshakes at once", transport.HandshakeBurst, "transport.HandshakeBurst"},
		{"handshakes in progress from which on Retry is asked for", transport.RetryAbove, "transport.RetryAbove"},
		{"connections of one member without preamble", transport.MaxUnready, "transport.MaxUnready"},
		{"dials in progress", transport.MaxDials, "transport.MaxDials"},
		{"frames read of one peer each second, a KiB counting as one", transport.FramesPerSecond, "transport.FramesPerSecond"},
		{"frames that wait for one peer, in each class", transport.MaxQueueFrames, "transport.MaxQueueFrames"},
		{"bytes that wait for one peer, in each class", transport.MaxQueueBytes, "transport.MaxQueueBytes"},
		{"bytes that wait for all peers", transport.MaxQueuedTotal, "transport.MaxQueuedTotal"},
		{"idle timeout", transport.DefaultIdleTimeout, "transport.DefaultIdleTimeout"},
		{"silence after which a peer is unresponsive, unless the group says otherwise", transport.DefaultSilence, "transport.DefaultSilence"},
		{"and on a connection, at most", transport.MaxSilence, "transport.MaxSilence"},
		{"time for a handshake", transport.HandshakeTimeout, "transport.HandshakeTimeout"},
		{"time for a preamble", transport.PreambleTimeout, "transport.PreambleTimeout"},
		{"time that a backlog may stand still", transport.StallTimeout, "transport.StallTimeout"},
		{"wait for the last frame to arrive", transport.Linger, "transport.Linger"},
		{"pause after a failed dial, at first", transport.MinBackOff, "transport.MinBackOff"},
		{"pause after failed dials, at most", transport.MaxBackOff, "transport.MaxBackOff"},
		{"bytes of a journal record", journal.MaxRecord, "journal.MaxRecord"},
		{"bytes of a block in a file", keyfile.MaxBlock, "keyfile.MaxBlock"},
		{"blocks of a file", keyfile.MaxBlocks, "keyfile.MaxBlocks"},
		{"bytes of a file of blocks", keyfile.MaxText, "keyfile.MaxText"},
		{"bytes of encoded evidence", evidence.MaxSize, "evidence.MaxSize"},
		{"signed objects that are remembered, to be compared", evidence.Kept, "evidence.Kept"},
		{"evidence against one member", handoff.MaxEvidencePerMember, "handoff.MaxEvidencePerMember"},
		{"members against which there is any", handoff.MaxAccused, "handoff.MaxAccused"},
		{"bytes of a frame's body between a member and a gate", gatewire.MaxFrame, "wire.MaxFrame"},
		{"revocations of an UPDATE to or from a gate", gatewire.MaxRevocations, "wire.MaxRevocations"},
		{"connections of a gate", driver.MaxConnections, "driver.MaxConnections"},
		{"connections of one member with a gate", driver.MaxPerMember, "driver.MaxPerMember"},
		{"sign-ins of a connection that have not ended", driver.MaxSignIns, "driver.MaxSignIns"},
		{"sign-ins of one member at a gate each second", driver.SignInsPerSecond, "driver.SignInsPerSecond"},
		{"data streams of a connection with a gate", driver.MaxStreams, "driver.MaxStreams"},
		{"silence after which a gate, or its member, is lost", client.Silence, "client.Silence"},
		{"acquire streams of the local API", api.MaxStreams, "api.MaxStreams"},
		{"acquire streams of one local user who does not own the daemon", api.MaxUserStreams, "api.MaxUserStreams"},
		{"acquire streams of all such users together", api.MaxUsersStreams, "api.MaxUsersStreams"},
		{"connections of one such user to the local API", api.MaxUserConnections, "api.MaxUserConnections"},
		{"connections of all such users together", api.MaxUsersConnections, "api.MaxUsersConnections"},
		{"streams through gates of one such user", api.MaxUserTunnels, "api.MaxUserTunnels"},
		{"streams through gates of all such users together", api.MaxUsersTunnels, "api.MaxUsersTunnels"},
		{"streams through gates of the local API", api.MaxTunnels, "api.MaxTunnels"},
		{"bytes of a request of the local API", api.MaxBody, "api.MaxBody"},
	} {
		out.row(l.what, fmt.Sprint(l.value), "`"+l.name+"`")
	}
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
	for _, c := range group.Constants {
		s := group.Settings{}.WithDefaults()
		low, high := c.Range()
		t.row("`"+c.Name+"`", fmt.Sprintf("%d to %d", low, high), fmt.Sprint(c.Wire(&s)))
	}
	ms := func(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
	between := func(low, high any) string { return fmt.Sprintf("%v to %v", low, high) }
	for _, f := range []struct{ name, permitted, absent string }{
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

// gateSettingsTable is what a group configuration permits for a gate.
func gateSettingsTable() *table {
	t := newTable("key", "constant", "permitted", "if it is not given")
	for _, c := range group.GateConstants {
		g := group.Gate{}.WithDefaults()
		low, high := c.Range()
		permitted := fmt.Sprintf("%d to %d", low, high)
		if c.Optional {
			permitted += ", or absent for none"
		}
		t.row(fmt.Sprint(c.Key), "`"+c.Name+"`", permitted, fmt.Sprint(c.Wire(&g)))
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
	{api.ErrNoSession, "api.ErrNoSession", "the grant is not in force, or has no open session at a gate"},
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
