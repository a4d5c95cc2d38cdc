package spec

import (
	"encoding"
	"go/ast"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
)

// statusWords say what the fields of the local API's status mean.
var statusWords = map[string]string{
	"v":                                    "1",
	"member":                               "this member's id",
	"name":                                 "its name",
	"group":                                "group id",
	"group_name":                           "the group's name",
	"configuration_version":                "of the group configuration that holds for it",
	"incarnation":                          "of its custody memory",
	"mode":                                 "`durable` or `volatile`",
	"uptime_s":                             "since the daemon's start",
	"address":                              "where it listens; empty when it only dials out",
	"peers[].member":                       "whom it talks or talked to",
	"peers[].name":                         "",
	"peers[].connected":                    "now",
	"resources[].name":                     "",
	"resources[].policy":                   "",
	"resources[].preset":                   "its name, also when the configuration leaves it to the policy",
	"resources[].slots[].slot":             "number, from 0",
	"resources[].slots[].held":             "a token is here",
	"resources[].slots[].executing":        "a program runs under a grant",
	"resources[].slots[].token":            "the last one seen; absent if there was none",
	"resources[].slots[].hop":              "of that",
	"resources[].slots[].tokens_seen":      "how often a token came",
	"resources[].slots[].last_seen_s":      "ago; null for never",
	"resources[].slots[].last_operation_s": "ago, by whomever, as far as is known here (**P-4**); null for never",
	"resources[].slots[].operations":       "of this member",
	"resources[].slots[].return_s":         "between this member's last two; 0 before",
	"resources[].slots[].gauges{}":         "figures of the policy, by names that end in their unit; absent if it has none",
	"resources[].waiting":                  "local programs that wait",
	"handoffs.ok":                          "transfers of this member that were taken",
	"handoffs.retried":                     "OFFERs sent again to the same member",
	"handoffs.reselected":                  "times that another receiver was drawn",
	"handoffs.in_doubt":                    "transfers whose answer is due, now",
	"handoffs.in_doubt_resolved":           "transfers that had to be sent again and were then answered by a receipt or void",
	"tokens.generated":                     "by this member",
	"membership.revocation_version":        "every revocation up to it is known",
	"membership.behind":                    "the CA has published what is not known here yet, as certificates tell",
	"membership.snapshots":                 "peers whose directories were compared since joining, at most 3",
	"membership.exchanges":                 "of directories, begun by this member",
	"membership.updates_pending":           "updates to be told to others",
	"membership.suspects":                  "members that do not answer",
	"membership.faults[].member":           "its id",
	"membership.faults[].count":            "forged or malformed objects",
	"membership.faults[].stale":            "objects that something newer had replaced: honest in small numbers",
	"membership.faults[].last":             "what the last one was",
	"warnings":                             "what an operator is to look at, one line each",
	"tokens.dropped":                       "by this member",
	"rejected{}":                           "messages that changed nothing, by reason (chapter 15)",
	"journal.segments":                     "",
	"journal.bytes":                        "",
	"journal.fsyncs":                       "syncs of the disk",
	"certificate_expires":                  "RFC 3339",
}

// memberWords are those of the list of members.
var memberWords = map[string]string{
	"v":                   "1",
	"members[].member":    "id",
	"members[].name":      "",
	"members[].state":     "one of ",
	"members[].connected": "now",
	"members[].self":      "whether it is the one that answers",
	"members[].suspected": "does not answer this member",
	"members[].sequence":  "of its endpoint record; 0 when none is known",
	"members[].addresses": "of its endpoint record",
	"members[].expires":   "of its certificate, RFC 3339",
}

// fieldTable is every field of a reply, as JSON has it.
func fieldTable(t *testing.T, reply reflect.Type, words map[string]string) *table {
	out := newTable("field", "JSON", "meaning")
	seen := 0
	eachField(reply, "", func(path, kind string) {
		meaning, known := words[path]
		require.True(t, known, "no meaning of %s", path)
		out.row("`"+path+"`", kind, meaning)
		seen++
	})
	require.Len(t, words, seen, "a meaning without a field")
	return out
}

// eachField visits the leaves of a reply.
func eachField(t reflect.Type, path string, visit func(path, kind string)) {
	switch {
	case t == reflect.TypeFor[time.Time]() || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		visit(path, "string")
	case t.Kind() == reflect.Pointer:
		eachField(t.Elem(), path, func(path, kind string) { visit(path, kind+" or null") })
	case t.Kind() == reflect.Map:
		eachField(t.Elem(), path+"{}", visit)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Struct:
		eachField(t.Elem(), path, func(path, kind string) { visit(path, "list of "+kind+"s") })
	case t.Kind() == reflect.Slice:
		eachField(t.Elem(), path+"[]", visit)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			eachField(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."), visit)
		}
	case t.Kind() == reflect.Bool:
		visit(path, "boolean")
	case t.Kind() == reflect.String:
		visit(path, "string")
	default:
		visit(path, "number")
	}
}

func statusTable(t *testing.T) *table {
	return fieldTable(t, reflect.TypeFor[api.Status](), statusWords)
}

func memberTable(t *testing.T) *table {
	words := maps.Clone(memberWords)
	words["members[].state"] += strings.Join(stateWords(t), ", ")
	return fieldTable(t, reflect.TypeFor[api.MemberList](), words)
}

// stateWords are the states of a member, in the order in which they are looked
// for; a member in the list is in one of them.
func stateWords(t *testing.T) (words []string) {
	for _, file := range newSource(t).tree("node") {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "stateOf" {
				ast.Inspect(f, func(n ast.Node) bool {
					if lit, ok := n.(*ast.BasicLit); ok && lit.Value != `"unknown"` {
						words = append(words, "`"+strings.Trim(lit.Value, `"`)+"`")
					}
					return true
				})
			}
		}
	}
	require.NotEmpty(t, words)
	return words
}
