package main

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/journal"
)

// A journal of another version is refused by everything that reads one, with the two
// versions and a hint, and is not called damaged. The daemon leaves it as it is.
func TestJournal_OtherVersion_RefusedWithHint(t *testing.T) {
	b := nodeBench(t, time.Now())
	g, _ := b.group()
	header := journal.SegmentHeader{Number: 1, FirstSeq: 1, Group: g.ID(), Member: b.certificate("a.crt").Member()}.Append(nil)
	header[11] = 1
	body := header[:len(header)-4]
	header = binary.BigEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	segment := filepath.Join("state", "journal", journal.SegmentName(1))
	require.NoError(t, os.MkdirAll(filepath.Dir(segment), 0o700))
	b.write(segment, string(header))
	b.write("node.toml", memberSettings)

	const says = "state/journal/0000000000000001.journal: journal version is not supported: version 1, this program reads version 8\nhint: "
	b.nodeFails(cli.ExitFailure, says+"start the version of wander that wrote it, or", "node.toml")
	assert.NotContains(t, b.err.String(), "damaged")
	for _, args := range [][]string{
		{"inspect", segment}, {"inspect", "state/journal"},
		{"audit", "-g", "ca/group.crt", segment}, {"audit", "-g", "ca/group.crt", "state"},
	} {
		b.fails(cli.ExitFailure, says+versionHint, args...)
		assert.NotContains(t, b.err.String(), "damaged")
	}
	// Beside journals of this version it is left out, with the same advice, and is
	// nothing that anybody is suspected of.
	st, _, err := store.Open("other", store.Options{Group: g.ID(), Member: b.certificate("b.crt").Member()})
	require.NoError(t, err)
	require.NoError(t, st.Close())
	out := b.must("audit", "-g", "ca/group.crt", "state", "other")
	assert.Contains(t, out, "state/journal: segments written by another version of wander, and not read: 1; they have journal version 1, this program "+
		"reads version 8: audit them with the version that wrote them")
	assert.NotContains(t, out, "damaged")

	left, err := os.ReadFile(segment)
	require.NoError(t, err)
	assert.Equal(t, header, left)
}

// A machine that has joined anew begins with an empty journal: the one of the member before is not damaged, and stays as it is.
func TestNode_JournalOfMemberBefore_HintMovesIt(t *testing.T) {
	b := nodeBench(t, time.Now())
	g, _ := b.group()
	st, _, err := store.Open(filepath.Join("state", "journal"), store.Options{Group: g.ID(), Member: b.certificate("b.crt").Member()})
	require.NoError(t, err)
	require.NoError(t, st.Close())
	word, err := json.Marshal(node.LastWord{At: b.now, Member: b.certificate("b.crt").Member(), Cause: explain.Revoked, Message: "revoked"})
	require.NoError(t, err)
	b.write("state/ended.json", string(word))
	b.write("node.toml", memberSettings)
	b.vars[configVariable] = "node.toml"
	// The present member has not been revoked: the former one was.
	b.fails(cli.ExitUnavailable, "hint: start it", "status")
	assert.Regexp(t, `(?m)^wander: .*\[no_daemon\]$`, b.out.String())
	b.wander("doctor")
	assert.Regexp(t, `(?m)^ok +certificate +a of group demo`, b.out.String())
	b.nodeFails(cli.ExitFailure, "hint: if this machine has joined anew, move the journal of the member before away", "node.toml")
	b.fails(cli.ExitUnavailable, "hint: wander help journal_failed says what to do", "status")
	assert.Regexp(t, `(?m)^wander: the daemon ended at .*: .* belongs to another member .* \[journal_failed\]$`, b.out.String())

	b.write("state/ended.json", strings.Replace(string(word), b.certificate("b.crt").Member().String(), b.certificate("a.crt").Member().String(), 1))
	b.fails(cli.ExitUnavailable, "hint: wander help revoked says what to do", "status")
	b.wander("doctor")
	assert.Regexp(t, `(?m)^fail +certificate +revoked: a of group demo`, b.out.String())
}
