package spec_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	updates "github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

func limitTable(t *testing.T) *table {
	out := newTable("bound", "value", "in the code")
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
		{"bytes of an update", updates.MaxUpdate, "update.MaxUpdate"},
		{"bytes of the updates that one message is given", updates.MaxTake, "update.MaxTake"},
		{"updates that wait to be told", updates.MaxPending, "update.MaxPending"},
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
		{"silence after which a peer is dead, unless the group says otherwise", transport.DefaultSilence, "transport.DefaultSilence"},
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
		{"acquire streams of the local API", api.MaxStreams, "api.MaxStreams"},
		{"bytes of a request of the local API", api.MaxBody, "api.MaxBody"},
	} {
		out.row(l.what, fmt.Sprint(l.value), "`"+l.name+"`")
	}
	hidden := newSource(t)
	for _, l := range memberLimits {
		out.row(l.what, hidden.show(l.name), "`"+l.name+"`")
	}
	return out
}

// memberLimits are rates and bounds that the code does not export.
var memberLimits = []struct{ what, name string }{
	{"hops of a token at once", "member.freeHops"},
	{"age for each more", "member.hopEvery"},
	{"HELLOs handled of one peer, each second", "member.helloRate"},
	{"and at once", "member.helloBurst"},
	{"members of whom the latest object is kept", "member.maxMemories"},
	{"members that are waited for after a restart", "member.maxRecallers"},
	{"longest wait for them", "member.recallTime"},
	{"time between two dials of one of them", "member.recallPace"},
	{"starts of copies with an empty memory that are known", "member.maxCopies"},
	{"bodies of keepers that are kept until the policies begin", "member.maxWords"},
	{"members that policies have it pass no token to", "member.maxShunned"},
	{"complaints that a member writes down, each second", "member.complaintRate"},
	{"and at once", "member.complaintBurst"},
	{"members that may found a slot", "member.maxFounders"},
	{"members that are looked at for them", "member.foundersLooked"},
	{"members at random that a founder asks besides", "member.foundingAsks"},
	{"time between two steps of founding", "member.foundingPause"},
	{"and between the first steps for two slots", "member.foundingStagger"},
	{"time until an added slot is left to its policy", "member.foundingFor"},
	{"POLICY messages of one share of one peer, each second, at least", "member.policyRate"},
	{"and at once", "member.policyBurst"},
	{"and for each slot, where that is more", "member.policyPerSlot"},
	{"and at most", "member.maxPolicyRate"},
	{"members dialled to send them POLICY, each second", "member.strangerRate"},
	{"and at once", "member.strangerBurst"},
	{"POLICY messages of one urgency that wait for that", "member.maxTells"},
	{"members that are remembered to have been dialled for them", "member.maxDialled"},
	{"configurations that come in parts at one time", "member.maxAssemblies"},
	{"NEWS of one peer, each second", "member.newsRate"},
	{"and at once", "member.newsBurst"},
	{"GOSSIP of one peer, each second", "member.gossipRate"},
	{"and at once", "member.gossipBurst"},
	{"WANTs of one peer that are answered, each second", "member.askedWorkRate"},
	{"and at once", "member.askedWorkBurst"},
	{"PROBEs of one peer, each second", "member.probeRate"},
	{"and at once", "member.probeBurst"},
	{"updates of one peer that are looked at, each second", "member.updateRate"},
	{"and at once", "member.updateBurst"},
	{"CONFIGURATIONs of one peer, each second", "member.configurationRate"},
	{"and at once", "member.configurationBurst"},
	{"endpoint records that a member signs, each second", "member.signRate"},
	{"and at once", "member.signBurst"},
	{"faults of one peer that are forgiven, each second", "member.faultRate"},
	{"and at once", "member.faultBurst"},
	{"members whose faults are kept", "member.maxFaulty"},
	{"bytes of the entries of a page, and of the updates of a NEWS", "member.pageBytes"},
	{"ranges still to be asked of one peer", "member.maxSpans"},
	{"members of a range, most of them known, above which a SUMMARY is asked for first", "member.pageMembers"},
	{"and if seven of eight parts of the range differ", "member.densePart"},
	{"questions about its directory that one peer is asked, each second", "member.questionRate"},
	{"and at once", "member.questionBurst"},
	{"and for a page with a new certificate", "member.questionReward"},
	{"time for the answer to a WANT about the directory", "member.answerTimeout"},
	{"directories that a joining member compares", "member.snapshotsWanted"},
	{"pause between its exchanges, at first", "member.joiningPace"},
	{"exchanges of which one is with a member drawn from all", "member.strangerEvery"},
	{"intervals without a connection that make a member join anew", "member.cutOffAfter"},
	{"members from which on an update is told less often", "update.smallGroup"},
	{"messages on which an update is told, at least", "update.leastTimes"},
	{"pause between two tellings of one matter", "member.tellPause"},
	{"matters whose last telling is kept in mind", "member.maxTold"},
	{"receivers of urgent news beyond the logarithm", "member.spreadExtra"},
	{"leaves that are kept at hand for the CA", "member.recentLeaves"},
	{"pause between two probes, at least", "member.minPace"},
	{"and at most", "member.maxPace"},
	{"failed probes that make a suspect", "member.suspectAfter"},
	{"failed probes that make a statement", "member.stateAfter"},
	{"members that are asked to probe a suspect", "member.probeHelpers"},
	{"paces for which a member in mode 2 may be gone", "member.attachedPatience"},
	{"members that are watched", "member.maxSuspects"},
	{"of these, dialled each second", "member.suspectRate"},
	{"and at once", "member.suspectBurst"},
	{"lateness of this member's own that counts", "member.LateFrom"},
	{"and makes it wait this many times as long, at most", "member.maxPatience"},
	{"time after which lateness counts half", "member.lateHalf"},
	{"statements that are kept in mind", "member.maxStated"},
	{"members whose broken connections are kept in mind", "member.maxBroken"},
	{"between two dials of a member that a policy watches", "member.redialPause"},
	{"after which a dial of which nothing was heard is made again", "member.dialPatience"},
	{"silence that counts of a connection that broke, at most", "member.maxUnheard"},
	{"silences for which one that cannot be dialled may be gone", "member.mutePatience"},
	{"between two GOSSIPs to it while it is connected", "member.touchEvery"},
	{"between two questions to others whether they hear this member", "member.touchPause"},
	{"others that are asked", "member.touchAsks"},
	{"creditors that are dialled at once", "member.creditorsAtOnce"},
	{"between two looks for what may be forgotten", "member.housekeepEvery"},
	{"pause in which a neighbour is passed over, at first", "member.absentFirst"},
	{"and at most", "member.absentMax"},
	{"members that are passed over", "member.maxGone"},
	{"programs that wait for one resource", "member.MaxWaiters"},
	{"peers whose clocks a member keeps in mind", "member.maxPeerClocks"},
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
