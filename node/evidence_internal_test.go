package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
)

// someEvidence is well formed, and proves nothing: files are not verified when
// they are written, since the member has done it.
func someEvidence(t *testing.T, n byte) effect.Evidence {
	e := evidence.Evidence{
		Kind: evidence.Fork, Accused: ident.Member{n}, Authorities: [][]byte{{1}}, Certificate: []byte{2}, Objects: [][]byte{{3}, {4}},
	}
	raw, err := e.Encode()
	require.NoError(t, err)
	return effect.Evidence{Kind: e.Kind.String(), Accused: e.Accused, ID: ident.Hash{n}, Encoded: raw}
}

func TestEvidence_Sent_Once(t *testing.T) {
	f := evidenceFolder{t.TempDir()}
	name, _ := f.oldest()
	assert.Empty(t, name, "nothing is there yet")

	first := someEvidence(t, 1)
	path, err := f.keep(first)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	again, err := f.keep(first)
	require.NoError(t, err)
	assert.Empty(t, again, "it is there")
	_, err = f.keep(someEvidence(t, 2))
	require.NoError(t, err)

	name, raw := f.oldest()
	assert.Equal(t, first.Encoded, raw)
	require.NoError(t, f.sent(name))
	again, err = f.keep(first)
	require.NoError(t, err)
	assert.Empty(t, again, "what the CA has is not brought again")
	name, raw = f.oldest()
	assert.Equal(t, someEvidence(t, 2).Encoded, raw)
	require.NoError(t, f.refused(name))
	name, _ = f.oldest()
	assert.Empty(t, name)
	kept, unsent := f.count()
	assert.Equal(t, []int{2, 0}, []int{kept, unsent})
}

// A file that somebody has damaged does not hold up the others, and what is no
// evidence is left alone.
func TestEvidence_FilesOfOthers_LeftAlone(t *testing.T) {
	f := evidenceFolder{t.TempDir()}
	good := someEvidence(t, 0xff) // its name comes last
	_, err := f.keep(good)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"0bad" + evidenceSuffix: []byte("x"), "1large" + evidenceSuffix: bytes.Repeat([]byte("#\n"), evidence.MaxText), "notes.txt": nil,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(f.folder(), name), text, 0o600))
	}
	_, raw := f.oldest()
	assert.Equal(t, good.Encoded, raw)
	assert.Len(t, f.in(refusedDir), 2)
	assert.FileExists(t, filepath.Join(f.folder(), "notes.txt"))
}

func TestEvidence_ManyFiles_Bounded(t *testing.T) {
	f := evidenceFolder{t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(f.folder(), sentDir), 0o700))
	for n := range maxEvidenceFiles - 1 {
		require.NoError(t, os.WriteFile(filepath.Join(f.folder(), sentDir, fmt.Sprint(n)+evidenceSuffix), nil, 0o600))
	}
	_, err := f.keep(someEvidence(t, 1))
	require.NoError(t, err)
	_, err = f.keep(someEvidence(t, 2))
	assert.ErrorIs(t, err, errEvidenceFull)
}

func TestEvidenceWait(t *testing.T) {
	assert.Equal(t, evidencePause, evidenceWait(enrolment.ErrUnreachable, 0))
	assert.Equal(t, 4*evidencePause, evidenceWait(enrolment.ErrUnreachable, 2))
	assert.Equal(t, maxSyncPause, evidenceWait(enrolment.ErrUnreachable, 1<<30))
	assert.Equal(t, time.Hour, evidenceWait(&enrolment.BusyError{After: time.Hour}, 0))
}
