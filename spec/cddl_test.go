package spec_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/spec/form"
)

func load(t *testing.T, file string) *cddl.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s, err := cddl.Parse(string(text))
	require.NoError(t, err, file)
	return s
}

// sample is one real object and the rule it has to match.
type sample struct {
	rule string
	data []byte
}

// onTheWire is everything that wire.cddl describes, but for the preamble and the answer of a dial back, which
// have their tests beside the transport.
func onTheWire(t *testing.T) []sample {
	var list []sample
	for _, o := range signedObjects(t) {
		list = append(list, sample{o.rule, o.raw}, sample{sigRule(o.rule), sigStructure(t, o)})
	}
	list = append(list, drawn("message", form.Messages())...)
	list = append(list, drawn("update", form.Updates())...)
	private, public := keyBlocks(t)
	list = append(list, sample{"last-operation", lastOperation(t)}, sample{"journal-position", journalPosition(t)}, sample{"evidence-file", evidenceFile(t)}, sample{"permit", permitOf(t)})
	return append(list, sample{"private-key", private}, sample{"public-key", public})
}

// journalPosition is the extensions of an object that names its position.
func journalPosition(t *testing.T) []byte {
	e := token.Position{Opening: millis, Tag: [token.TagSize]byte{7}, Serial: 12}.Extensions()
	raw, err := canonical.Marshal(e)
	require.NoError(t, err)
	return raw
}

// lastOperation is the extensions of a transfer that says when the operation
// last ran.
func lastOperation(t *testing.T) []byte {
	w := newWalk(t, nil, noExtension)
	body := w.first.Body()
	body.SetLastOperation(millis)
	signed, err := body.Sign(groupID, ada.key)
	require.NoError(t, err)
	e, err := cddl.Decode(signed.Raw())
	require.NoError(t, err)
	payload, err := cddl.Decode(e.Items[0].Items[2].Data)
	require.NoError(t, err)
	return payload.Items[len(payload.Items)-1].Append(nil)
}

// sigRule is the rule of what is signed for an object of the given rule.
func sigRule(rule string) string { return "sig-of-" + strings.TrimPrefix(rule, "signed-") }

// sigRules are rules for what is signed, one for each kind of object: the files
// have only the generic one.
func sigRules() string {
	var b strings.Builder
	for kind, payload := range map[string]string{
		"authority": "authority", "configuration": "configuration", "certificate": "certificate-claims",
		"revocation": "revocation", "endpoint": "endpoint", "genesis": "genesis", "transfer": "transfer",
		"answer": "answer", "leave": "leave", "failure": "failure", "request": "request", "complaint": "complaint", "statement": "statement",
		"gate-answer": "gate-answer",
	} {
		b.WriteString("sig-of-" + kind + " = sig-structure<" + payload + ">\n")
	}
	return b.String()
}

// sigStructure makes what is signed out of the envelope, as protocol.md says.
func sigStructure(t *testing.T, o signed) []byte {
	e, err := cddl.Decode(o.raw)
	require.NoError(t, err)
	require.Equal(t, cddl.Tag, e.Major)
	fields := e.Items[0].Items
	text := func(s string) cddl.Item { return cddl.Item{Major: cddl.Text, Data: []byte(s)} }
	aad := cddl.Item{Major: cddl.Array, Items: []cddl.Item{
		text("wander"), {Major: cddl.Uint, Arg: 1}, {Major: cddl.Bytes, Data: groupID[:]}, text(o.kind.String()),
	}}
	return cddl.Item{Major: cddl.Array, Items: []cddl.Item{
		text("Signature1"), fields[0], {Major: cddl.Bytes, Data: aad.Append(nil)}, fields[2],
	}}.Append(nil)
}

func wireSchema(t *testing.T) *cddl.Schema {
	t.Helper()
	text, err := os.ReadFile("wire.cddl")
	require.NoError(t, err)
	s, err := cddl.Parse(string(text) + sigRules())
	require.NoError(t, err)
	return s
}

func TestWireObjects(t *testing.T) {
	s := wireSchema(t)
	for _, o := range onTheWire(t) {
		assert.NoError(t, s.Check(o.rule, o.data), "%s %x", o.rule, o.data)
	}
	assert.Equal(t, []string{"preamble", "dialled-back"}, s.Unmatched(), "rules of which there is no real object here")
}

// A signed object's hash is that of its Sig_structure, and the signature is
// over the same bytes.
func TestExamples_HashesAndSignatures_Verified(t *testing.T) {
	for _, o := range signedObjects(t) {
		tbs := sigStructure(t, o)
		assert.Equal(t, sha256.Sum256(tbs), [32]byte(o.hash), o.rule)
		signatures := 0
		for _, p := range []party{authority, ada, ben, cleo} {
			if p.key.Public().Verify(tbs, o.raw[len(o.raw)-64:]) == nil {
				signatures++
			}
		}
		assert.Equal(t, 1, signatures, o.rule)
	}
}

func TestKinds_Each_InTheCDDL(t *testing.T) {
	s := wireSchema(t)
	seen := make(map[envelope.Kind]bool)
	for _, o := range signedObjects(t) {
		seen[o.kind] = true
	}
	for k := envelope.Kind(1); !strings.HasPrefix(k.String(), "kind "); k++ {
		assert.True(t, seen[k], k.String())
		name := cddl.Item{Major: cddl.Text, Data: []byte(k.String())}
		assert.NoError(t, s.Check("kind", name.Append(nil)))
	}
}

// A drawn record is an entry as well, and every rule of the file is met.
func TestJournalRecords(t *testing.T) {
	s := load(t, "journal.cddl")
	for _, r := range drawn("record", form.Records()) {
		assert.NoError(t, s.Check("record", r.data), "%x", r.data)
		assert.NoError(t, s.Check("entry", r.data), "%x", r.data)
	}
	assert.Empty(t, s.Unmatched())
}

// A change of the shape of a record raises the version of the journal's format, so
// that no program takes the records of another version for damaged ones.
func TestJournalRecords_ShapeChanged_VersionRaised(t *testing.T) {
	s := load(t, "journal.cddl")
	shapes := sha256.New()
	for _, name := range s.Names() {
		fmt.Fprintln(shapes, name, s.Tokens(name))
	}
	of := map[int]string{ // by version: of rules by their names, in the order of the file
		8: "06487799eb0fe3df8ce8d29c8d15ea13c06371ca3457c0486d1adebbf6f351eb",
	}
	assert.Equal(t, of[journal.SegmentVersion], fmt.Sprintf("%x", shapes.Sum(nil)),
		"raise journal.SegmentVersion, and say in J-2 what the version before had instead")
}

// Rules that are in both files are the same.
func TestCommonRules(t *testing.T) {
	w, j := load(t, "wire.cddl"), load(t, "journal.cddl")
	different := map[string]bool{"entry": true, "settled": true} // one of each file's own
	for _, name := range j.Names() {
		if there := w.Tokens(name); there != nil && !different[name] {
			assert.Equal(t, there, j.Tokens(name), name)
		}
	}
}

// spoilt are copies of an item in each of which something has gone wrong at the
// top: an element too few, too many, or of another type.
func spoilt(i cddl.Item) []cddl.Item {
	var list []cddl.Item
	null := cddl.Item{Major: cddl.Simple, Arg: 22}
	with := func(items ...cddl.Item) {
		list = append(list, cddl.Item{Major: i.Major, Arg: i.Arg, Items: items})
	}
	n := len(i.Items)
	step := 1
	if i.Major == cddl.Map {
		step = 2
		with(append(clone(i.Items), cddl.Item{Major: cddl.Text, Data: []byte("zz")}, null)...)
		with(clone(i.Items[step:])...) // the last entry may be optional, the first never is
	} else {
		with(append(clone(i.Items), null)...)
		with(clone(i.Items[:n-step])...)
	}
	for at := step - 1; at < n; at += step {
		items := clone(i.Items)
		items[at] = cddl.Item{Major: cddl.Negative, Arg: 99}
		with(items...)
	}
	return list
}

func clone(items []cddl.Item) []cddl.Item { return append([]cddl.Item(nil), items...) }

// The rules refuse what is wrong: otherwise the tests above would mean nothing.
func TestRulesRefuse(t *testing.T) {
	s := wireSchema(t)
	for _, o := range onTheWire(t) {
		item, err := cddl.Decode(o.data)
		require.NoError(t, err)
		switch {
		case o.rule == "message":
			for _, bad := range spoilt(item.Items[1]) {
				whole := cddl.Item{Major: cddl.Array, Items: []cddl.Item{item.Items[0], bad}}
				assert.Error(t, s.Check("message", whole.Append(nil)), "%v", whole)
			}
			other := cddl.Item{Major: cddl.Array, Items: []cddl.Item{{Major: cddl.Uint, Arg: 23}, item.Items[1]}}
			assert.Error(t, s.Check("message", other.Append(nil)))
		case strings.HasPrefix(o.rule, "signed-"):
			payload, err := cddl.Decode(item.Items[0].Items[2].Data)
			require.NoError(t, err)
			for _, bad := range spoilt(payload) {
				fields := clone(item.Items[0].Items)
				fields[2] = cddl.Item{Major: cddl.Bytes, Data: bad.Append(nil)}
				whole := cddl.Item{Major: cddl.Tag, Arg: 18, Items: []cddl.Item{{Major: cddl.Array, Items: fields}}}
				assert.Error(t, s.Check(o.rule, whole.Append(nil)), "%s %v", o.rule, bad)
			}
		default:
			for _, bad := range spoilt(item) {
				assert.Error(t, s.Check(o.rule, bad.Append(nil)), "%s %v", o.rule, bad)
			}
		}
	}
}

// parts are the places of all items within an item, itself included.
func parts(i *cddl.Item) []*cddl.Item {
	list := []*cddl.Item{i}
	for n := range i.Items {
		list = append(list, parts(&i.Items[n])...)
	}
	return list
}

func deepClone(i cddl.Item) cddl.Item {
	items := clone(i.Items)
	for n := range items {
		items[n] = deepClone(items[n])
	}
	i.Items = items
	return i
}

// anyOf draws an item of one of the types that have no parts, of a size that
// is likely to matter somewhere.
func anyOf(t *rapid.T, m cddl.Major) cddl.Item {
	i := cddl.Item{Major: m}
	switch m {
	case cddl.Uint, cddl.Negative:
		i.Arg = rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 70)).Draw(t, "number")
	case cddl.Bytes, cddl.Text:
		n := rapid.SampledFrom([]int{0, 1, 15, 16, 32, 64, 65, 512, 513}).Draw(t, "size")
		i.Data = bytes.Repeat([]byte{'n'}, n)
	case cddl.Simple:
		i.Arg = rapid.Uint64Range(20, 22).Draw(t, "simple")
	}
	return i
}

// What the code accepts, the CDDL allows: of any message with one part put in
// place of another, or left out.
func TestMessages_Accepted_MatchCDDL(t *testing.T) {
	s := wireSchema(t)
	all := decoded(t, drawn("message", form.Messages()))
	rapid.Check(t, func(t *rapid.T) {
		body := altered(t, rapid.SampledFrom(all).Draw(t, "message"))
		if _, err := wire.Decode(body); err != nil {
			return
		}
		if err := s.Check("message", body); err != nil {
			t.Fatalf("%x: %v", body, err)
		}
	})
}

// decoded are the items of samples.
func decoded(t *testing.T, list []sample) (items []cddl.Item) {
	for _, s := range list {
		item, err := cddl.Decode(s.data)
		require.NoError(t, err)
		items = append(items, item)
	}
	return items
}

// The same of the records of a journal.
func TestRecords_Accepted_MatchCDDL(t *testing.T) {
	s := load(t, "journal.cddl")
	all := decoded(t, drawn("record", form.Records()))
	rapid.Check(t, func(t *rapid.T) {
		body := altered(t, rapid.SampledFrom(all).Draw(t, "record"))
		if _, _, err := journal.Decode(body); err != nil {
			return
		}
		if err := s.Check("record", body); err != nil {
			t.Fatalf("%x: %v", body, err)
		}
	})
}

// altered replaces, repeats or removes one part of an item.
func altered(t *rapid.T, item cddl.Item) []byte {
	item = deepClone(item)
	at := rapid.SampledFrom(parts(&item)).Draw(t, "part")
	switch n := len(at.Items); {
	case n > 0 && rapid.Bool().Draw(t, "shorter"):
		at.Items = at.Items[:n-1]
	case n > 0 && rapid.Bool().Draw(t, "longer"):
		at.Items = append(at.Items, at.Items[n-1])
	case n == 0 && rapid.Bool().Draw(t, "of its type"):
		*at = anyOf(t, at.Major)
	default:
		types := []cddl.Major{cddl.Uint, cddl.Negative, cddl.Bytes, cddl.Text, cddl.Array, cddl.Map, cddl.Simple}
		*at = anyOf(t, rapid.SampledFrom(types).Draw(t, "type"))
	}
	return item.Append(nil)
}

// The strict check of the codec and the decoder here agree on what is
// deterministic.
func TestDecoders_AnyBytes_Agree(t *testing.T) {
	limits := canonical.Limits{MaxBytes: 1 << 16, MaxDepth: 16, MaxItems: 1 << 10}
	var seeds [][]byte
	for _, o := range onTheWire(t) {
		if o.rule == "message" {
			seeds = append(seeds, o.data)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		data := append([]byte(nil), rapid.SampledFrom(seeds).Draw(t, "seed")...)
		for range rapid.IntRange(0, 3).Draw(t, "flips") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		_, err := cddl.Decode(data)
		if theirs := canonical.Check(data, limits); (theirs == nil) != (err == nil) && !containsTag(data) {
			t.Fatalf("%x: %v and %v", data, theirs, err)
		}
	})
}

// containsTag reports whether data holds a tag, which the decoder here reads
// and the codec refuses.
func containsTag(data []byte) bool {
	item, err := cddl.Decode(data)
	if err != nil {
		return false
	}
	for _, p := range parts(&item) {
		if p.Major == cddl.Tag {
			return true
		}
	}
	return false
}
