package spec_test

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/invite"
)

// enrolmentSchema is enrolment.cddl with a rule for each message as it travels.
func enrolmentSchema(t *testing.T) *cddl.Schema {
	t.Helper()
	text, err := os.ReadFile("enrolment.cddl")
	require.NoError(t, err)
	var b strings.Builder
	b.Write(text)
	for _, s := range enrolments(t) {
		name := strings.TrimPrefix(s.rule, "travelling-")
		b.WriteString(s.rule + " = enrolment<" + name + ">\n")
	}
	schema, err := cddl.Parse(b.String())
	require.NoError(t, err)
	return schema
}

// enrolments are one of each message, with all its parts.
func enrolments(t *testing.T) []sample {
	one := [][]byte{{1}}
	publication := enrolment.Publication{Authorities: one, Configuration: []byte{2}, Revocations: one, Leaves: one, More: true}
	peers := []enrolment.Peer{{Certificate: []byte{3}, Endpoint: []byte{4}}}
	return []sample{
		encoded(t, "enrol-request", enrolment.EnrolRequest{ID: [8]byte{1}, Secret: [16]byte{2}, Request: []byte{3}}),
		encoded(t, "enrol-answer", enrolment.EnrolAnswer{Certificate: []byte{5}, Publication: publication, Peers: peers, Others: 7}),
		encoded(t, "renew-answer", enrolment.RenewAnswer{Certificate: []byte{5}, Authorities: one}),
		encoded(t, "sync-request", enrolment.SyncRequest{Configuration: 3, Revocations: 9, Endpoint: []byte{4}, Leaves: one}),
		encoded(t, "sync-answer", enrolment.SyncAnswer{Publication: publication, Peers: peers}),
		encoded(t, "leave-request", enrolment.LeaveRequest{Leave: []byte{6}}),
		encoded(t, "evidence-request", enrolment.EvidenceRequest{Evidence: []byte{8}}),
		encoded(t, "refusal", enrolment.Refusal{Reason: enrolment.Revoked, Object: []byte{7}}),
	}
}

func encoded[M enrolment.Message](t *testing.T, rule string, m M) sample {
	t.Helper()
	raw, err := enrolment.Encode(m)
	require.NoError(t, err)
	return sample{rule: "travelling-" + rule, data: raw}
}

// inviteContent is what is in an invite.
func inviteContent(t *testing.T) []byte {
	text, err := invite.Invite{
		Group: groupID, Authority: [16]byte{1}, Addresses: []string{"ca.example.org:4134"}, Name: "ftp-03", Expires: time.Unix(1, 0),
	}.Format()
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, "wander1-"))
	require.NoError(t, err)
	return raw[:len(raw)-4]
}

func TestEnrolmentMessages(t *testing.T) {
	s := enrolmentSchema(t)
	for _, o := range append(enrolments(t), sample{"invite", inviteContent(t)}) {
		assert.NoError(t, s.Check(o.rule, o.data), "%s %x", o.rule, o.data)
		item, err := cddl.Decode(o.data)
		require.NoError(t, err)
		for _, bad := range spoilt(item) {
			assert.Error(t, s.Check(o.rule, bad.Append(nil)), "%s %v", o.rule, bad)
		}
		if o.rule == "invite" {
			continue
		}
		for _, bad := range spoilt(item.Items[1]) {
			whole := cddl.Item{Major: cddl.Array, Items: []cddl.Item{item.Items[0], bad}}
			assert.Error(t, s.Check(o.rule, whole.Append(nil)), "%s %v", o.rule, bad)
		}
	}
	assert.Empty(t, s.Unmatched(), "rules of which there is no real object here")
}

// What the code accepts, the CDDL allows.
func TestEnrolmentMessages_Accepted_MatchCDDL(t *testing.T) {
	s := enrolmentSchema(t)
	all := enrolments(t)
	accepts := map[string]func([]byte) error{
		"travelling-enrol-request": accepting[enrolment.EnrolRequest], "travelling-enrol-answer": accepting[enrolment.EnrolAnswer],
		"travelling-renew-answer": accepting[enrolment.RenewAnswer], "travelling-sync-request": accepting[enrolment.SyncRequest],
		"travelling-sync-answer": accepting[enrolment.SyncAnswer], "travelling-leave-request": accepting[enrolment.LeaveRequest],
		"travelling-evidence-request": accepting[enrolment.EvidenceRequest],
		"travelling-refusal":          accepting[enrolment.Refusal],
	}
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.SampledFrom(all).Draw(t, "message")
		item, err := cddl.Decode(one.data)
		require.NoError(t, err)
		raw := altered(t, item)
		if accepts[one.rule](raw) != nil {
			return
		}
		if err := s.Check(one.rule, raw); err != nil {
			t.Fatalf("%s %x: %v", one.rule, raw, err)
		}
	})
}

func accepting[M enrolment.Message](raw []byte) error {
	_, err := enrolment.Decode[M](raw)
	return err
}
