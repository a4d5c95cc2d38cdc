package ca

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

func TestLog_Damaged_Found(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "a", 2)
	_, err := a.Revoke(ident.Member{1}, "")
	require.NoError(t, err)
	file := filepath.Join(testDir, LogFile)
	log, err := d.ReadFile(file, -1)
	require.NoError(t, err)
	lines := bytes.Count(log, []byte("\n"))
	require.Equal(t, 4, lines)
	for i := range log {
		bad := bytes.Clone(log)
		bad[i] ^= 1 << (i % 8)
		_, err := chain{}.read(file, bad, newState().take)
		require.ErrorIs(t, err, ErrDamaged, "bit %d of byte %d", i%8, i)
	}
	require.NoError(t, d.Flip(file, 8*100))
	_, err = Open(testDir, options(d))
	var damage *damageError
	require.ErrorAs(t, err, &damage)
	assert.Equal(t, file, damage.file)
	assert.Equal(t, 1, damage.line)
	assert.ErrorContains(t, err, "line 1")
}

func TestLog_LinesLeftOutOrSwapped_Found(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "a", 2)
	issue(t, a, "b", 3)
	log, err := d.ReadFile(filepath.Join(testDir, LogFile), -1)
	require.NoError(t, err)
	lines := bytes.SplitAfter(log, []byte("\n"))
	read := func(parts ...[]byte) error {
		_, err := chain{}.read("log", bytes.Join(parts, nil), newState().take)
		return err
	}
	require.NoError(t, read(lines...))
	assert.ErrorIs(t, read(lines[0], lines[2], lines[3]), errSequence)
	assert.ErrorIs(t, read(lines[0], lines[1], lines[3], lines[2]), errSequence)
	assert.ErrorIs(t, read(lines[1]), errSequence)
	assert.ErrorIs(t, read([]byte("{}\n")), errLine)
}

func TestLog_TornLine_Cut(t *testing.T) {
	a, d := fresh(t)
	file := filepath.Join(testDir, LogFile)
	before, err := d.ReadFile(file, -1)
	require.NoError(t, err)
	issue(t, a, "a", 2)
	after, err := d.ReadFile(file, -1)
	require.NoError(t, err)
	for size := len(before); size < len(after); size++ {
		for _, zeros := range []int{0, 1, 600} {
			torn := append(bytes.Clone(after[:size]), make([]byte, zeros)...)
			c, err := chain{}.read(file, torn, newState().take)
			require.NoError(t, err)
			require.Equal(t, int64(len(before)), c.size)
		}
	}
	whole := after[:len(after)-1]
	_, err = chain{}.read(file, append(bytes.Clone(whole), 'x'), newState().take)
	assert.ErrorIs(t, err, ErrDamaged, "a whole line with something else than a line end")
}

func TestLog_Shrinks_Damage(t *testing.T) {
	a, d := fresh(t)
	b := reopen(t, d)
	issue(t, a, "a", 2)
	file, err := d.Open(filepath.Join(testDir, LogFile))
	require.NoError(t, err)
	require.NoError(t, file.Truncate(b.ledger.end.size))
	_, err = a.List()
	assert.ErrorIs(t, err, errShrunk)
	require.NoError(t, file.Truncate(0))
	_, err = Open(testDir, options(d))
	assert.ErrorIs(t, err, errCreation)
}

func TestSerialFile_Damaged_Refused(t *testing.T) {
	a, d := fresh(t)
	issue(t, a, "a", 2)
	require.NoError(t, a.ledger.folder.write(serialFile, []byte("many\n")))
	_, err := a.Issue(Request{Name: "b", Key: keyOf(3)})
	assert.ErrorIs(t, err, ErrDamaged)
	require.NoError(t, a.ledger.folder.write(serialFile, []byte("41\n")))
	assert.Equal(t, uint64(42), issue(t, a, "b", 3).Body().Serial)
	require.NoError(t, d.Remove(a.ledger.folder.name(serialFile)))
	assert.Equal(t, uint64(43), issue(t, a, "c", 4).Body().Serial)
}

func TestLog_TornLineThenShorterOne_NothingLeft(t *testing.T) {
	a, d := fresh(t)
	require.NoError(t, a.ledger.folder.append(LogFile, bytes.Repeat([]byte("x"), maxLine), a.ledger.end.size))
	issue(t, reopen(t, d), "a", 2)
	l, err := reopen(t, d).List()
	require.NoError(t, err)
	assert.Len(t, l.Records, 1)
}
