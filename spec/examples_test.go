package spec_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// lineDigits is how many hexadecimal digits are in a line.
	lineDigits = 96
	// lineWidth is where diagnostic notation is broken.
	lineWidth = 96
)

// gallery makes the examples of examples.md. An item that was shown is named,
// where it comes again within another one, in place of its bytes.
type gallery struct {
	*table
	t       *testing.T
	schemas map[string]*cddl.Schema // by file
	names   map[string]string       // of examples, by their bytes
	shown   map[string]map[string]bool
}

func newGallery(t *testing.T) *gallery {
	g := &gallery{table: &table{}, t: t, names: make(map[string]string), shown: make(map[string]map[string]bool)}
	g.schemas = map[string]*cddl.Schema{
		"wire.cddl": wireSchema(t), "journal.cddl": load(t, "journal.cddl"), "enrolment.cddl": enrolmentSchema(t),
	}
	for file := range g.schemas {
		g.shown[file] = make(map[string]bool)
	}
	return g
}

func (g *gallery) heading(text string) { g.lines = append(g.lines, "## "+text, "") }

func (g *gallery) text(lines ...string) { g.lines = append(append(g.lines, lines...), "") }

// plain adds bytes that are no CBOR.
func (g *gallery) plain(what string, data []byte) { g.block(what+":", hexLines(data)) }

func (g *gallery) block(what string, parts ...[]string) {
	g.lines = append(g.lines, what, "", "```")
	for i, part := range parts {
		if i > 0 {
			g.lines = append(g.lines, "")
		}
		g.lines = append(g.lines, part...)
	}
	g.lines = append(g.lines, "```", "")
}

// item adds one item as an example of a rule: its diagnostic notation, its bytes,
// and what else is to be said. detail tells several examples of a rule apart.
func (g *gallery) item(file, rule, detail string, data []byte, more ...[]string) {
	g.t.Helper()
	g.checked(file, rule, rule, detail, data, more...)
}

// checked is item for bytes that have to match another rule than that which they
// are shown as: a message, a record, the body of a request.
func (g *gallery) checked(file, as, rule, detail string, data []byte, more ...[]string) {
	g.t.Helper()
	require.NoError(g.t, g.schemas[file].Check(as, data), "%s %s", rule, detail)
	decoded, err := cddl.Decode(data)
	require.NoError(g.t, err)
	name, title := rule, "`"+rule+"`"
	if detail != "" {
		name, title = rule+", "+detail, title+", "+detail
	}
	diagnosed := wrapped(g.diagnose(decoded))
	g.block(title+":", append([][]string{diagnosed, hexLines(data)}, more...)...)
	g.names[string(data)] = name
	g.shown[file][rule] = true
}

// diagnose is the item in diagnostic notation, with what is in byte strings
// taken apart: << >> (RFC 8949 §8, RFC 8610 appendix G.3).
func (g *gallery) diagnose(i cddl.Item) string {
	list := func(open, end string, pair bool) string {
		var parts []string
		for n := 0; n < len(i.Items); n++ {
			part := g.diagnose(i.Items[n])
			if pair {
				n++
				part += ": " + g.diagnose(i.Items[n])
			}
			parts = append(parts, part)
		}
		return open + strings.Join(parts, ", ") + end
	}
	switch i.Major {
	case cddl.Bytes:
		return g.bytes(i.Data)
	case cddl.Array:
		return list("[", "]", false)
	case cddl.Map:
		return list("{", "}", true)
	case cddl.Tag:
		return list(fmt.Sprintf("%d(", i.Arg), ")", false)
	default:
		return i.String()
	}
}

func (g *gallery) bytes(data []byte) string {
	if name, shown := g.names[string(data)]; shown {
		return "<<" + name + ">>"
	}
	inner, err := cddl.Decode(data)
	if err == nil && (inner.Major == cddl.Array || inner.Major == cddl.Map) {
		return "<<" + g.diagnose(inner) + ">>"
	}
	return "h'" + hex.EncodeToString(data) + "'"
}

// wrapped breaks a line behind commas.
func wrapped(line string) []string {
	var lines []string
	for len(line) > lineWidth {
		at := strings.LastIndex(line[:lineWidth], ", ")
		if at < 3 { // one word fills the line
			rest := strings.Index(line[3:], ", ")
			if rest < 0 {
				break
			}
			at = 3 + rest
		}
		lines = append(lines, line[:at+1])
		line = "  " + line[at+2:]
	}
	return append(lines, line)
}

func hexLines(data []byte) []string {
	var lines []string
	for part := range slices.Chunk([]byte(hex.EncodeToString(data)), lineDigits) {
		lines = append(lines, string(part))
	}
	return lines
}

// signed adds a signed object, with its hash.
func (g *gallery) signed(o signed, detail string) {
	g.t.Helper()
	g.item("wire.cddl", o.rule, detail, o.raw, []string{"H: " + hex.EncodeToString(o.hash[:])})
}

// alternatives are the rules of a choice of arrays that begin with a number, by
// the number.
func (g *gallery) alternatives(file, rule string) map[string]string {
	found := make(map[string]string)
	tokens := g.schemas[file].Tokens(rule)
	for i, token := range tokens {
		if token == "[" {
			end := i + slices.Index(tokens[i:], "]")
			found[tokens[i+1]] = tokens[end-1]
		}
	}
	require.NotEmpty(g.t, found, rule)
	return found
}

func (g *gallery) message(detail string, m wire.Message) []byte {
	g.t.Helper()
	body, err := wire.Encode(m)
	require.NoError(g.t, err)
	rule := g.alternatives("wire.cddl", "message")[fmt.Sprint(uint8(m.Type()))]
	g.checked("wire.cddl", "message", rule, detail, body)
	return body
}

func (g *gallery) record(detail string, r journal.Record) []byte {
	g.t.Helper()
	body, err := journal.Encode(millis*1000, r)
	require.NoError(g.t, err)
	rule := g.alternatives("journal.cddl", "record")[fmt.Sprint(uint8(r.Kind()))]
	g.checked("journal.cddl", "record", rule, detail, body)
	return body
}

// components are rules that stand only within others, of which each has an
// example; they are not shown by themselves.
var components = map[string][]string{
	"wire.cddl": {
		"hash", "group", "member", "extensions", "signed", "kind", "authority", "configuration", "resource", "parameters", "windows", "window", "class", "gate", "gate-constants",
		"constants", "certificate-claims", "revocation", "endpoint", "leave", "failure", "request", "complaint", "statement", "gate-answer", "genesis", "transfer",
		"answer", "message", "settled", "entry", "part", "last-operation", "journal-position", "shown",
		"object", "maybe-object", "configuration-part",
	},
	"journal.cddl":   {"hash", "member", "entry", "record"},
	"enrolment.cddl": {"group", "enrolment", "publication", "peer"},
}

// Every rule has an example, by itself or as a component.
func TestRules_Each_HasAnExample(t *testing.T) {
	g := newGallery(t)
	g.all()
	for file, schema := range g.schemas {
		for _, name := range schema.Names() {
			made := strings.HasPrefix(name, "sig-of-") || strings.HasPrefix(name, "travelling-") // by these tests
			if !made && !slices.Contains(components[file], name) {
				assert.True(t, g.shown[file][name], "%s: no example of %s", file, name)
			}
		}
		for name := range maps.Keys(g.shown[file]) {
			assert.NotContains(t, components[file], name, "it has one")
		}
	}
}
