package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/wander/internal/auditing"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/journal"
)

// saveJournals writes a group file and the members' journals.
func saveJournals(t *testing.T, dir string, w *audittest.World) {
	t.Helper()
	text, err := keyfile.EncodeBlocks(w.Group.Blocks()...)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "group.crt"), text, 0o600))
	for _, m := range w.List {
		seq := uint64(0)
		data := journal.SegmentHeader{Number: 1, FirstSeq: 1, Group: w.Group.ID(), Member: m.ID}.Append(nil)
		add := func(k journal.FrameType, body []byte) {
			seq++
			data = journal.Frame{Type: k, Seq: seq, Body: body}.Append(data)
		}
		add(journal.FrameCheckpointBegin, nil)
		add(journal.FrameCheckpointEnd, nil)
		for _, f := range m.Frames {
			add(journal.FrameRecord, f.Body)
		}
		folder := filepath.Join(dir, m.Name, "state", "journal")
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, journal.SegmentName(1)), data, 0o600))
	}
}

func TestAudit(t *testing.T) {
	dir := t.TempDir()
	w := audittest.New("ann", "ben", "cleo")
	title := w.List[0].Generate()
	w.List[0].Hand(title, w.List[1])
	saveJournals(t, dir, w)
	group := filepath.Join(dir, "group.crt")

	code, out, errs := runCommand("", "audit", "--group", group, dir)
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, out, "verdict     clean")
	assert.Empty(t, errs)
	code, _, errs = runCommand("", "audit", filepath.Join(dir, "ann", "state", "journal"))
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, errs, "warning: verifying with "+group, "a group file that nobody named")

	w.List[2].Decline(w.List[0].Sign(title, w.List[2])) // ann gives one token to two
	saveJournals(t, dir, w)
	proofs := filepath.Join(dir, "proofs")
	left := filepath.Join(proofs, ".wander-1.tmp")
	require.NoError(t, os.Mkdir(proofs, 0o700))
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	require.NoError(t, os.Chtimes(left, time.Time{}, time.Now().Add(-time.Hour)))
	code, out, errs = runCommand("", "audit", "--group", group, "--evidence", proofs, "--output", "json", dir)
	assert.Equal(t, cli.ExitBug, code)
	assert.Contains(t, errs, "error: the journals prove broken rules")
	assert.NoFileExists(t, left, "an audit that was ended in the middle had left it")
	var v auditing.View
	require.NoError(t, json.Unmarshal([]byte(out), &v))
	assert.Equal(t, "proof", v.Verdict)
	require.Len(t, v.Findings, 1)
	assert.Equal(t, "ann", v.Findings[0].Accused)
	code, out, _ = runCommand("", "audit", "verify-evidence", "--group", group, v.Findings[0].Evidence)
	assert.Equal(t, cli.ExitOK, code)
	assert.Contains(t, out, "proof against ann")

	code, _, _ = runCommand("", "audit", "--group", group, "--until", "2026-01-01T00:00:00Z", dir)
	assert.Equal(t, cli.ExitOK, code, "nothing had happened by then")
	for _, flag := range []string{"--until=2000-01-01T00:00:00Z", "--since=2100-01-01T00:00:00Z"} {
		_, out, _ = runCommand("", "audit", "--group", group, flag, dir)
		assert.Contains(t, out, "no journal has a record of the requested time", flag)
	}
	_, out, _ = runCommand("", "audit", "--group", group, "--since=2000-01-01T00:00:00Z", dir)
	assert.NotContains(t, out, "no journal has a record")
}

// Suspicions have an exit code of their own, and are not called broken rules.
func TestAudit_OnlySuspicions_OwnExitCode(t *testing.T) {
	dir := t.TempDir()
	w := audittest.New("ann", "ben")
	w.List[0].Forge()
	saveJournals(t, dir, w)
	code, out, errs := runCommand("", "audit", "--group", filepath.Join(dir, "group.crt"), dir)
	assert.Equal(t, cli.ExitSuspicion, code)
	assert.Contains(t, out, "1 suspicion, nothing proved")
	assert.Contains(t, errs, "error: the journals raise suspicions; nothing is proved")
	assert.NotContains(t, errs, "broken")
}

func TestAudit_Invalid_Refused(t *testing.T) {
	dir := t.TempDir()
	w := audittest.New("ann")
	saveJournals(t, dir, w)
	group, deep := filepath.Join(dir, "group.crt"), filepath.Join(t.TempDir(), "a", "b", "c", "d")
	require.NoError(t, os.CopyFS(deep, os.DirFS(filepath.Join(dir, "ann"))))
	empty, text, nothing := t.TempDir(), filepath.Join(t.TempDir(), "notes.txt"), filepath.Join(t.TempDir(), "nothing")
	require.NoError(t, os.WriteFile(text, []byte("buy milk\n"), 0o600))
	require.NoError(t, os.WriteFile(nothing, nil, 0o600))
	const otherFiles = "\nhint: give a member's journal: the folder journal in its state_dir; wander inspect shows other files\n"
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{cli.ExitUsage, "--since \"yesterday\": must be a time", []string{"--since", "yesterday", dir}},
		{cli.ExitFailure, "no journal segments found: " + empty + "\nhint: give a member's journal", []string{"--group", group, empty}},
		{cli.ExitFailure, "no journal segments found: " + empty + "\nhint: give a member's journal", []string{empty}},
		{cli.ExitFailure, "error: not a segment of a journal: " + text + otherFiles, []string{text}},
		{cli.ExitFailure, "error: not a segment of a journal: " + nothing + otherFiles, []string{nothing}},
		{cli.ExitFailure, "error: not a segment of a journal: " + group + otherFiles, []string{group}},
		{cli.ExitUsage, "must be a folder", []string{"--group", group, "--evidence", group, dir}},
		{cli.ExitConfiguration, "no group.crt beside the journals", []string{deep}},
		{cli.ExitConfiguration, "none: no such file", []string{"--group", filepath.Join(dir, "none"), dir}},
		{cli.ExitFailure, "error: not a segment of a journal: " + group + otherFiles, []string{"--group", group, group}},
		{cli.ExitFailure, "none: no such file", []string{filepath.Join(dir, "none")}},
		{cli.ExitUsage, "--skew -5s", []string{"--skew", "-5s", dir}},
		{cli.ExitUsage, "--since must be before --until", []string{"--since", "2026-11-02T00:00:00Z", "--until", "2026-11-01T00:00:00Z", dir}},
		{cli.ExitNoPermission, "nor a token has this resource: \"tpae\"", []string{"--group", group, "--resource", "tpae", dir}},
	} {
		code, out, errs := runCommand("", append([]string{"audit"}, c.args...)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.want)
	}
}
