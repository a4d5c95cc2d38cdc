package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// journalled makes a journal with one record beside a member.
func journalled(t *testing.T, id node.Identity, dir string, r journal.Record) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "state"), 0o700))
	st, _, err := store.Open(filepath.Join(dir, "state", "journal"), store.Options{Group: id.Group.ID(), Member: id.Certificate.Member()})
	require.NoError(t, err)
	body, err := journal.Encode(1, r)
	require.NoError(t, err)
	_, err = st.Append(body)
	require.NoError(t, err)
	require.NoError(t, st.Close())
}

func leaveOf(t *testing.T, id node.Identity) []byte {
	t.Helper()
	signed, err := certificate.Leave{Member: id.Certificate.Member(), Time: 1}.Sign(id.Group.ID(), id.Key)
	require.NoError(t, err)
	return signed.Raw()
}

// A folder whose member is none any more is no place to join into, whoever knows
// of it: the journal, the group file or the CA.
func TestJoin_FolderOfDepartedMember_Refused(t *testing.T) {
	b := started(t)
	s := b.serve()
	dead := func(dir, says string, offline bool, line string) {
		t.Helper()
		b.fails(79, says, "join", line, "--dir", dir)
		assert.Contains(t, b.err.String(), "in another folder")
		assert.NotContains(t, b.out.String(), "next:")
		if offline {
			b.fails(79, says, "cert", "status", "--config", dir+"/wander.toml", "--output", "json")
			var r certReport
			require.NoError(t, json.Unmarshal(b.out.Bytes(), &r))
			assert.Contains(t, says, r.State)
		}
	}
	t.Run("the journal knows that it has left", func(t *testing.T) {
		line := b.invited("a", s.address)
		b.must("join", line, "--dir", "a")
		id := b.identity("a")
		journalled(t, id, "a", &journal.Known{What: journal.KnownLeave, Object: leaveOf(t, id)})
		dead("a", "has left", true, line)
	})
	t.Run("the CA knows that it has left", func(t *testing.T) {
		line := b.invited("b", s.address)
		b.must("join", line, "--dir", "b")
		id := b.identity("b")
		client := enrolment.Client{Addresses: []string{s.address}, Group: id.Group, Certificate: id.Certificate, Key: id.Key, Now: func() time.Time { return b.now }}
		require.NoError(t, client.Leave(t.Context(), leaveOf(t, id)))
		dead("b", "has left", false, line)
	})
	t.Run("revoked", func(t *testing.T) {
		line := b.invited("c", s.address)
		b.must("join", line, "--dir", "c")
		b.must("join", b.invited("d", s.address), "--dir", "d")
		b.must("ca", "revoke", "c")
		dead("c", "revoked", false, line)
		other := b.identity("d")
		assert.NoError(t, departed(other, "d/state"))
		g, extra := b.group()
		require.NoError(t, putGroup("c/group.crt", g, extra))
		dead("c", "revoked", true, line)
		again := b.invited("c", s.address)
		b.must("join", again, "--dir", "c2")
		// A leave that another has signed says nothing.
		assert.NoError(t, departed(other, ""))
		other.Extra.Leaves = [][]byte{leaveOf(t, b.identity("c2"))}
		assert.NoError(t, departed(other, ""))
		other.Extra.Leaves = [][]byte{leaveOf(t, other)}
		assert.ErrorIs(t, departed(other, ""), enrolment.ErrLeft)
	})
}

// The first member is told to make the tokens until it, or another, has run.
func TestJoin_FirstMemberAgain_SameFiles(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("a", s.address)
	b.must("join", line, "--dir", "a")
	assert.Contains(t, b.must("join", line, "--dir", "a"), "--config a/wander.toml --found")
	other := b.invited("b", s.address)
	b.must("join", other, "--dir", "b")
	assert.NotContains(t, b.must("join", line, "--dir", "a"), "--found")
	b.must("ca", "revoke", "b")
	assert.Contains(t, b.must("join", line, "--dir", "a"), "--found")
	require.NoError(t, os.MkdirAll("a/state/journal", 0o700))
	assert.Contains(t, b.must("join", line, "--dir", "a"), "--found")
	b.write("a/state/journal/1.wal", "")
	assert.NotContains(t, b.must("join", line, "--dir", "a"), "--found")

	require.NoError(t, os.RemoveAll("a/state"))
	s.stop()
	assert.NotContains(t, b.must("join", line, "--dir", "a"), "--found", "it is not known")
	assert.Contains(t, b.err.String(), "only the very first one")
}

// A second daemon on a state_dir says whose it is.
func TestNode_StateDirTaken_Refused(t *testing.T) {
	b := nodeBench(t, time.Now())
	b.write("node.toml", memberSettings)
	id, err := node.LoadIdentity("a.crt", "a.key", "ca/group.crt")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("state", 0o700))
	st, _, err := store.Open("state/journal", store.Options{Group: id.Group.ID(), Member: id.Certificate.Member()})
	require.NoError(t, err)
	defer st.Close()
	b.nodeFails(1, fmt.Sprintf("another daemon already uses this state_dir (process %d)", os.Getpid()), "node.toml")
	assert.Contains(t, b.err.String(), "its own state_dir")
}

// The last request is at the end of --wait, however the pauses fall.
func TestJoinPauses_Unreachable_LastRequestAtTheEnd(t *testing.T) {
	const ms = time.Millisecond
	pauses := joinPauses{firstJoinPause}
	for left := 800 * ms; left > 0; {
		wait, again := pauses.next(enrolment.ErrUnreachable, left)
		require.True(t, again)
		left -= wait
		require.Contains(t, []time.Duration{550 * ms, 50 * ms, 0}, left)
	}
	_, again := pauses.next(enrolment.ErrUnreachable, 0)
	assert.False(t, again, "the time is over")
	for range 20 {
		wait, _ := pauses.next(enrolment.ErrFailed, time.Hour)
		assert.LessOrEqual(t, wait, longestJoinPause)
	}
	_, again = pauses.next(certificate.ErrExpired, time.Hour)
	assert.False(t, again, "the CA refused")
}

// A busy CA says when it has time.
func TestJoinPauses_Busy_WaitsAsLongAsTheCAAsks(t *testing.T) {
	pauses := joinPauses{firstJoinPause}
	wait, again := pauses.next(&enrolment.BusyError{After: 3 * time.Second}, 4*time.Second)
	assert.True(t, again)
	assert.Equal(t, 3*time.Second, wait)
	_, again = pauses.next(&enrolment.BusyError{After: 3 * time.Second}, 2*time.Second)
	assert.False(t, again)
}

func TestJoin_Unreachable_TriesAgainAndKeepsTheKey(t *testing.T) {
	b := started(t)
	line := b.invited("a", "127.0.0.1:1")
	assert.Equal(t, 69, b.wander("join", line, "--dir", "m", "--wait", "300ms"))
	assert.FileExists(t, "m/member.key", "the CA has not refused")
}

func TestStatus_MembersAndFaults_Printed(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printMembers(&out, []api.MemberInfo{
		{Name: "a", Sequence: 1, Addresses: []string{"a:1", "b:2"}}, {Name: "b", Sequence: 1}, {Name: "c"},
	}))
	assert.Regexp(t, `(?s)a:1 b:2\n.*dials out only\n.*not known yet\n`, out.String())
	out.Reset()
	printMembership(&out, api.MembershipStatus{Faults: []api.FaultStatus{
		{Member: ident.Member{1}, Count: 2, Last: "forged"}, {Member: ident.Member{2}, Stale: 3, Last: "late"}, {Member: ident.Member{3}, Count: 1},
	}}, map[ident.Member]string{{1}: "ftp-03"})
	assert.Regexp(t, `faults +ftp-03 \(01[0-9a-f]+\): 2 faulty, 0 outdated, the last: forged\nfaults +unknown`, out.String())
	assert.NotContains(t, out.String(), "late")
}

// People look for names.
func TestMembers_ByName(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printMembers(&out, []api.MemberInfo{{Name: "b"}, {Name: "c", State: "valid"}, {Name: "a"}, {Name: "c", State: "revoked"}}))
	assert.Regexp(t, `(?s)\na .*\nb .*\nc .*valid.*\nc .*revoked`, out.String())
}
