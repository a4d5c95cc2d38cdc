package auditing

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// A clean journal with one bit flipped is not clean (TestJournal_AnyBitFlipped_Found of
// package audit flips them all, of a smaller one).
func TestAudit_FlippedBits_Found(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	title := s.List[0].Generate()
	for i := range 40 {
		title = s.List[i%3].Hand(title, s.List[(i+1)%3])
	}
	s.saveAll()
	file := s.segment(s.List[1], 1)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, s.audit().Findings)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		i, bit := rng.IntN(len(data)), rng.IntN(8)
		data[i] ^= 1 << bit
		require.NoError(t, os.WriteFile(file, data, 0o600))
		require.Contains(t, kinds(s.audit()), audit.Damaged, "byte %d of %d, bit %d", i, len(data), bit)
		data[i] ^= 1 << bit
	}
}

// The remains of a crash at the end of a journal are no finding. A change in the journal is one, where
// it can be told.
func TestTornTail(t *testing.T) {
	s := newShelf(t, "ann")
	ann := s.List[0]
	ann.Wait(1)
	s.saveAll()
	file := s.segment(ann, 1)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	start := bytes.LastIndex(whole, ann.Frames[len(ann.Frames)-1].Body) - 16
	for size := start + 1; size < len(whole); size++ {
		require.NoError(t, os.WriteFile(file, whole[:size], 0o600))
		a := s.audit()
		assert.Empty(t, a.Findings, "%d bytes", size)
		assert.Len(t, a.Notes, 1)
		zeros := append(bytes.Clone(whole[:size]), make([]byte, len(whole)-size+7)...)
		require.NoError(t, os.WriteFile(file, zeros, 0o600))
		assert.Empty(t, s.audit().Findings, "%d bytes and zeros", size)
		zeros[len(zeros)-1] ^= 1
		require.NoError(t, os.WriteFile(file, zeros, 0o600))
		assert.Equal(t, []audit.Kind{audit.Damaged}, kinds(s.audit()), "%d bytes, zeros and a bit", size)
	}
}

// tell is a story in which ann holds one token and has one on its way when her
// second segment begins, and again at the third.
func tell(s *shelf) (parts []part) {
	ann, ben := s.List[0], s.List[1]
	held, sent := ann.Generate(), ann.Generate()
	tr := ann.Send(sent, ben)
	begin := len(ann.Frames)
	parts = append(parts, checkpoint(ann, begin, &journal.Generated{Genesis: held.Genesis.Raw()},
		&journal.Generated{Genesis: sent.Genesis.Raw()}, &journal.Sent{Transfer: tr.Raw()}))
	back := ben.Take(sent, tr)
	ann.Close(tr, ben.Answer(token.Receipt, tr))
	moved := ann.Hand(held, ben)
	again := ben.Hand(back, ann)
	parts = append(parts, checkpoint(ann, len(ann.Frames)-begin,
		&journal.Held{Transfer: again.Transfer.Raw(), Genesis: again.Genesis.Raw()}))
	ann.Hand(again, ben)
	ben.Hand(moved, ann)
	return parts
}

// Whatever segments are missing, nothing is made of it, and it is said.
func TestMissingSegments(t *testing.T) {
	for mask := range 8 {
		s := newShelf(t, "ann", "ben")
		s.save(s.List[0], tell(s)...)
		s.save(s.List[1])
		for i := range 3 {
			if mask&(1<<i) != 0 {
				require.NoError(t, os.Remove(s.segment(s.List[0], uint64(i+1))))
			}
		}
		a := s.audit()
		assert.Empty(t, a.Findings, "mask %b", mask)
		gap := mask == 1 || mask == 2 || mask == 3 || mask == 5
		assert.Equal(t, gap, len(a.Notes) > 0, "mask %b: %v", mask, a.Notes)
	}
}

// A damaged segment ends there; the next one is read from its checkpoint on.
func TestAudit_DamageInTheMiddle_Reported(t *testing.T) {
	for number := uint64(1); number <= 3; number++ {
		s := newShelf(t, "ann", "ben")
		s.save(s.List[0], tell(s)...)
		s.save(s.List[1])
		file := s.segment(s.List[0], number)
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for at := range data {
			if at%149 != 0 {
				continue
			}
			data[at] ^= 8
			require.NoError(t, os.WriteFile(file, data, 0o600))
			assert.Equal(t, []audit.Kind{audit.Damaged}, kinds(s.audit()), "segment %d, byte %d", number, at)
			data[at] ^= 8
		}
	}
}

// Copies of one journal, made at different times, are one journal; two that have
// gone on differently are a finding.
func TestCopies(t *testing.T) {
	s := newShelf(t, "ann", "ben")
	s.save(s.List[0], tell(s)...)
	s.save(s.List[1])
	last := s.segment(s.List[0], 3)
	data, err := os.ReadFile(last)
	require.NoError(t, err)
	older := filepath.Join(s.dir, "older")
	require.NoError(t, os.CopyFS(older, os.DirFS(s.folder(s.List[0]))))
	copied := filepath.Join(older, journal.SegmentName(3))
	require.NoError(t, os.WriteFile(copied, data[:len(data)-10], 0o600))
	a := s.audit()
	assert.Empty(t, a.Findings)
	assert.Len(t, a.Notes, 3)

	s.List[0].Wait(1) // the member has gone on; the copy was written to, too
	f := s.List[0].Frames[len(s.List[0].Frames)-1]
	r, err := journal.NewReader(last, data)
	require.NoError(t, err)
	for err == nil {
		_, err = r.Next()
	}
	f.Seq = r.NextSeq()
	require.NoError(t, os.WriteFile(last, f.Append(bytes.Clone(data)), 0o600))
	f.Body = s.List[0].Encode(&journal.Counters{Accepts: 9})
	require.NoError(t, os.WriteFile(copied, f.Append(bytes.Clone(data)), 0o600))
	assert.Equal(t, []audit.Kind{audit.Diverged}, kinds(s.audit()))
}

// Single files do as well as folders.
func TestSingleFiles(t *testing.T) {
	s := newShelf(t, "ann", "ben")
	s.save(s.List[0], tell(s)...)
	s.save(s.List[1])
	a := s.audit(s.segment(s.List[0], 3), s.segment(s.List[0], 2), s.segment(s.List[0], 1), s.folder(s.List[1]))
	assert.Empty(t, a.Findings)
	assert.Empty(t, a.Notes)
	assert.Equal(t, s.audit().Records, a.Records)
}

func TestAudit_NoJournal_Refused(t *testing.T) {
	s := newShelf(t, "ann")
	_, err := s.run()
	require.ErrorIs(t, err, ErrNoJournal)
	_, err = s.run(filepath.Join(s.dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	s.saveAll()
	note := filepath.Join(s.dir, "note")
	require.NoError(t, os.WriteFile(note, []byte("hello"), 0o600))
	_, err = s.run() // other files in a folder are left alone
	require.NoError(t, err)
	_, err = s.run(note)
	require.ErrorIs(t, err, ErrNotOne)
	other := audittest.New("eve")
	_, err = Run(Input{Paths: []string{s.dir}, Group: other.Group})
	require.NoError(t, err, "the same CA key makes the same group")
}

// A file that has the name of a segment and is none does not keep the other journals from
// being audited.
func TestAudit_UnreadableFiles_Damage(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	fork(s)
	trap := filepath.Join(s.folder(s.List[1]), journal.SegmentName(2))
	for name, set := range map[string]func() error{
		"endless": func() error { return os.Symlink("/dev/zero", trap) },
		"folder":  func() error { return os.Symlink(s.dir, trap) },
		"huge": func() error {
			if err := os.WriteFile(trap, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(trap, maxSegment+1)
		},
	} {
		require.NoError(t, set(), name)
		assert.ElementsMatch(t, []audit.Kind{audit.Fork, audit.Damaged}, kinds(s.audit()), name)
		_, err := s.run(trap)
		if name == "folder" { // is looked into
			assert.NoError(t, err, name)
		} else {
			assert.Error(t, err, name)
		}
		require.NoError(t, os.Remove(trap), name)
	}
}

// A link to a folder is the folder.
func TestAudit_LinkToFolder_Followed(t *testing.T) {
	s := newShelf(t, "ann")
	s.saveAll()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(s.dir, link))
	a, err := s.run(link)
	require.NoError(t, err)
	assert.Equal(t, s.audit().Records, a.Records)
}

// fork makes ann give one token to two members.
func fork(s *shelf) {
	ann, ben, cleo := s.List[0], s.List[1], s.List[2]
	title := ann.Generate()
	ann.Hand(title, ben)
	cleo.Decline(ann.Sign(title, cleo))
	s.save(ann)
	s.save(ben)
	s.save(cleo)
}

func TestEvidence(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	fork(s)
	a := s.audit()
	dir := filepath.Join(s.dir, "evidence", "here")
	files, err := a.WriteEvidence(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	e, err := evidence.ParseText(text)
	require.NoError(t, err)
	proof, err := e.Verify(s.Group.ID())
	require.NoError(t, err)
	assert.Equal(t, s.List[0].ID, proof.Accused)
	assert.Equal(t, "ann", proof.Name)
	assert.True(t, strings.HasPrefix(filepath.Base(files[0]), "ann-"+s.List[0].ID.Short()+"-two-transfers-of-one-hop-"))

	again, err := s.audit().WriteEvidence(dir)
	require.NoError(t, err)
	assert.Equal(t, files, again)
	same, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, text, same)

	require.NoError(t, os.Truncate(s.segment(s.List[0], 1), 400))
	_, err = a.WriteEvidence(dir)
	assert.ErrorIs(t, err, audit.ErrGone)
}

// TestEvidence_OfAGate_Shown: a gate that has given one number to two members is named by a proof, beside one of a member, and each has its file.
func TestEvidence_OfAGate_Shown(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	g := s.Gate()
	ann, ben := s.List[0], s.List[1]
	ann.Write(&journal.Known{What: journal.KnownGate, Object: g.Certificate.Raw()})
	for i, m := range []*audittest.Author{ann, ben} {
		title := m.Generate()
		open := gate.OpenAnswer{Session: 7, Token: title.Token()}
		m.Write(&journal.Told{Answer: g.Says(m, title, byte(i), 1, open)})
	}
	fork(s)
	a := s.audit()
	files, err := a.WriteEvidence(filepath.Join(s.dir, "evidence"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	v := a.View(files)
	assert.Equal(t, "proof", v.Verdict)
	named := make(map[string]string)
	for _, f := range v.Findings {
		if f.Class == "proof" {
			named[f.Accused] = f.Evidence
			assert.Len(t, f.Records, 2)
		}
	}
	assert.Equal(t, map[string]string{"ann": files[0], "gate": files[1]}, named)
}

func TestWriteEvidence_NoProof_NoFolder(t *testing.T) {
	s := newShelf(t, "ann")
	s.saveAll()
	dir := filepath.Join(s.dir, "evidence")
	files, err := s.audit().WriteEvidence(dir)
	require.NoError(t, err)
	assert.Empty(t, files)
	assert.NoDirExists(t, dir)
}

func TestView(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	s.List[1].Operate(s.List[1].Generate(), 1, 2)
	s.List[2].Write(&journal.Dropped{Hop: 7})
	fork(s)
	a := s.audit()
	v := a.View([]string{"a.evidence"})
	assert.Equal(t, "proof", v.Verdict)
	require.Len(t, v.Findings, 2)
	assert.Equal(t, "ann", v.Findings[0].Accused)
	assert.Equal(t, "a.evidence", v.Findings[0].Evidence)
	assert.Equal(t, audittest.Resource, v.Findings[0].Resource)
	assert.Equal(t, s.segment(s.List[2], 1), v.Findings[1].Records[0].File)
	assert.Equal(t, "suspicion", v.Findings[1].Class)

	var text bytes.Buffer
	require.NoError(t, v.Text(&text))
	first, _, _ := strings.Cut(text.String(), "\n")
	assert.Equal(t, "verdict     1 proof against ann; 1 suspicion", first)
	for _, want := range []string{"PROOF       two transfers of one hop, by ann", "SUSPICION   record does not fit: cleo", "evidence a.evidence", "resource    tape: 1 operation, "} {
		assert.Contains(t, text.String(), want)
	}
	data, err := json.Marshal(v)
	require.NoError(t, err)
	assert.NotContains(t, string(data), ":null", "lists are empty, not missing")
}

// A journal is missing of a member that others gave tokens: the text names that one, and not another that took no part.
func TestText_JournalMissing_MemberNamed(t *testing.T) {
	s := newShelf(t, "ann", "ben", "cleo")
	s.List[0].Hand(s.List[0].Generate(), s.List[1])
	s.save(s.List[0])
	var text bytes.Buffer
	require.NoError(t, s.audit().View(nil).Text(&text))
	assert.Contains(t, text.String(), "read        journals of 1 member, 1 missing;")
	assert.Regexp(t, `(?m)^missing     the journals of (ben|`+s.List[1].ID.String()[:8]+`): others gave them tokens`, text.String())
	s.saveAll()
	text.Reset()
	require.NoError(t, s.audit().View(nil).Text(&text))
	assert.NotContains(t, text.String(), "missing     the journals")
	assert.Equal(t, "a, b", someOf([]string{"a", "b"}))
	assert.True(t, strings.HasSuffix(someOf(make([]string, maxShown+2)), " and 2 members more"))
}

// Operations whose end is unknown, or only bounded, are named beside the resource's
// figures: an operator is not to take them for measured ones.
func TestText_OpenAndBounded_Named(t *testing.T) {
	text := func(r ResourceView) string {
		var b strings.Builder
		require.NoError(t, View{Resources: []ResourceView{r}}.Text(&b))
		return b.String()
	}
	assert.NotContains(t, text(ResourceView{Operations: 9}), "operations that run or")
	got := text(ResourceView{Operations: 9, Open: 2, Bounded: 3})
	assert.Contains(t, got, "open        operations that run or have an unknown end: 2")
	assert.Contains(t, got, "bounded     operations that ended no later than their deadline: 3")
}

// TestView_Complaints_NamedBesideFindings: a strike is a suspicion that names the member that is struck first; all
// complaints are listed, in text and JSON.
func TestView_Complaints_NamedBesideFindings(t *testing.T) {
	s := newShelf(t, "ann", "ben", "mallory")
	ann, ben, bad := s.List[0], s.List[1], s.List[2]
	title := bad.Generate()
	ann.Complain(bad, title.Token(), policy.Struck, policy.Kept)
	ben.Complain(bad, title.Token(), policy.Struck, policy.Denied)
	ben.Complain(bad, title.Token(), policy.Barred, policy.Denied)
	ben.Complain(ann, title.Token(), policy.GivenUp, policy.Kept)
	s.saveAll()
	v := s.audit().View(nil)
	assert.Equal(t, "suspicion", v.Verdict)
	require.Len(t, v.Findings, 1)
	assert.Equal(t, "mallory", v.Findings[0].Members[0])
	assert.ElementsMatch(t, []string{"ann", "ben"}, v.Findings[0].Members[1:])
	assert.Empty(t, v.Findings[0].Accused)
	require.Len(t, v.Complaints, 2)
	c := v.Complaints[0]
	assert.ElementsMatch(t, []string{"ann", "ben"}, c.By)
	assert.Equal(t, map[string]int{"struck": 2, "barred": 1}, c.Measures)
	assert.Equal(t, map[string]int{"kept a token": 1, "denied a token": 2}, c.Causes)
	assert.Equal(t, []string{title.Token().String()}, c.Tokens)
	assert.Equal(t, []string{}, v.Complaints[1].StruckBy)

	var text strings.Builder
	require.NoError(t, v.Text(&text))
	assert.Contains(t, text.String(), "SUSPICION   struck by others: mallory, ")
	assert.Contains(t, text.String(), "complaints  about mallory: 3 by 2 members, from 2026-11-01T")
	assert.Contains(t, text.String(), ": barred 1, struck 2\n            because: denied a token 2, kept a token 1\n")
	data, err := json.Marshal(v)
	require.NoError(t, err)
	assert.NotContains(t, string(data), ":null")
}

// TestText_ComplaintsThatDoNotCount_Named: nobody is accused by them, and nobody is to wonder where they are.
func TestText_ComplaintsThatDoNotCount_Named(t *testing.T) {
	var b strings.Builder
	require.NoError(t, View{Disregarded: 3}.Text(&b))
	assert.Contains(t, b.String(), "note        complaints that do not count, of members that were none or are revoked: 3\n")
}
