package spec_test

import (
	"context"
	"encoding"
	"fmt"
	"go/ast"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
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
	"resources[].preset":                   "its name, also when the configuration leaves it to the policy; like `policy` empty for a resource that is leaving since before a restart",
	"resources[].slots[].slot":             "number, from 0",
	"resources[].slots[].leaving":          "the configuration lacks it, and a program still runs in it (**P-46**)",
	"resources[].slots[].held":             "a token is here",
	"resources[].slots[].executing":        "a program runs under a grant",
	"resources[].slots[].token":            "the last one seen; absent if there was none",
	"resources[].slots[].hop":              "of that",
	"resources[].slots[].tokens_seen":      "how often a token came",
	"resources[].slots[].last_seen_s":      "ago; null for never",
	"resources[].slots[].last_operation_s": "ago, by whomever, as far as is known here (**P-4**); null for never",
	"resources[].slots[].operations":       "of this member",
	"resources[].slots[].isolated_s":       "for how long no program here could begin for want of votes (**P-67**); absent if they come",
	"resources[].slots[].missing_votes":    "whose votes have not come; absent if they come",
	"resources[].slots[].return_s":         "between this member's last two; 0 before",
	"resources[].slots[].gauges{}":         "figures of the policy, by names that end in their unit; absent if it has none",
	"resources[].waiting":                  "local programs that wait",
	"resources[].no_place":                 "policy `ring`, and this member has no place on the ring (**P-17**): no turn comes",
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
	"membership.late_s":                    "how late its process runs (**D-49**), as far as it counts; 0 while it is punctual",
	"membership.patience":                  "how many times as long it therefore waits before it suspects others, 1 to 8",
	"evidence.kept":                        "files of evidence (journal.md)",
	"evidence.unsent":                      "of these, not yet brought to the CA",
	"evidence.folder":                      "where they are",
	"membership.faults[].member":           "its id",
	"membership.faults[].count":            "forged or malformed objects",
	"membership.faults[].stale":            "objects that something newer had replaced: honest in small numbers",
	"membership.faults[].last":             "what the last one was",
	"warnings":                             "what an operator is to look at, one line each",
	"tokens.dropped":                       "by this member",
	"rejected{}":                           "messages that changed nothing, by reason (refusals.md)",
	"journal.segments":                     "",
	"journal.bytes":                        "",
	"journal.fsyncs":                       "syncs of the disk",
	"journal.recalling":                    "after a restart, peers have not greeted yet (**H-72**)",
	"journal.went_back":                    "how often a memory was given up (**H-73**)",
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
			name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			eachField(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."), func(path, kind string) {
				switch options {
				case "omitempty":
					kind += ", or absent"
				case "string":
					kind = "string"
				}
				visit(path, kind)
			})
		}
	case t.Kind() == reflect.Bool:
		visit(path, "boolean")
	case t.Kind() == reflect.String:
		visit(path, "string")
	default:
		visit(path, "number")
	}
}

// acquireWords are those of a demand.
var acquireWords = map[string]string{
	"resource":    "name, 1 to 64 bytes",
	"wait_ms":     "how long to wait; absent or null without end, 0 now or never",
	"max_hold_ms": "a shorter grant than the resource permits; 0 or absent as long as that",
	"min_hold_ms": "keep the token here for so long after the grant, even when it is released sooner; 0 or absent not at all",
	"once_per_ms": "refuse (`not_due`) if the operation ran more recently, as far as is known here (**P-4**); 0 or absent never",
	"held":        "ids of the grants that the program runs under itself, at most 64. The demand is refused (`held`) if one of them is in force for this resource at this member; others decide nothing",
	"label":       "shown to people; decides nothing. At most 128 bytes",
	"pid":         "likewise",
}

// grantWords are those of a grant.
var grantWords = map[string]string{
	"id":               "the grant's id",
	"resource":         "what was granted",
	"member":           "to which member: id",
	"name":             "and its name",
	"token":            "the custody that it stands on",
	"hop":              "its hop",
	"fence":            "its fence (**O-21**), in decimal digits",
	"deadline":         "RFC 3339, as this machine's wall clock would show it",
	"deadline_boot_ns": "the deadline itself: nanoseconds of the clock that counts suspended time (CLOCK_BOOTTIME on Linux)",
	"permit":           "the encoded permit of the custody ([permit.md](permit.md)), in base64: evidence, and no secret; absent if the member could not build it",
	"boot_id":          "of which boot (on Linux /proc/sys/kernel/random/boot_id); absent where the system has none",
}

var releaseWords = map[string]string{
	"grant": "its id", "operated": "whether the resource was used at all",
	"exit":              "how the command that used it ended; 0 when it was none. Shown, decides nothing",
	"seen_from_boot_ns": "when the program was seen running first, on the clock of `deadline_boot_ns`; 0 or absent if not known",
	"seen_to_boot_ns":   "and when last. Both are for auditors (journal.md), and decide nothing",
}

var renewalWords = map[string]string{
	"v": "1", "serial": "of the certificate in force now", "expires": "when it ends, RFC 3339",
	"newer": "whether it is another one than before",
}

// paths are the requests of the local API.
var paths = []struct{ method, path, body, answer, meaning string }{
	{"POST", "/v1/acquire", "a demand", "a stream of events (**A-4**)", "wait for a resource"},
	{"POST", "/v1/release", "a release", "`{\"v\":1}`", "end a grant (**A-6**)"},
	{"GET", "/v1/status", "none", "the status", "what this one member knows"},
	{"GET", "/v1/members", "none", "the members", "whom it knows"},
	{"POST", "/v1/leave", "none", "`{\"v\":1}`", "leave the group permanently (**D-40**); then the daemon ends"},
	{"POST", "/v1/renew", "none", "the renewal", "ask the authority for a newer certificate now"},
}

// willing is a backend that does all that it is asked for.
type willing struct{ api.Backend }

func (willing) Acquire(context.Context, api.AcquireRequest) (api.HeldGrant, error) {
	return nil, api.ErrNotGranted
}
func (willing) Release(api.ReleaseRequest) error           { return nil }
func (willing) Status() api.Status                         { return api.Status{} }
func (willing) Members() []api.MemberInfo                  { return nil }
func (willing) Leave(context.Context) error                { return nil }
func (willing) Renew(context.Context) (api.Renewal, error) { return api.Renewal{}, nil }

// pathTable is the requests that the handler knows; TestPaths finds that there are
// no others.
func pathTable(t *testing.T) *table {
	out := newTable("request", "body", "answer", "")
	for _, p := range paths {
		body := ""
		if p.body == "a demand" {
			body = `{"resource":"r"}`
		} else if p.body == "a release" {
			body = fmt.Sprintf(`{"grant":%q}`, ident.Grant{})
		}
		w := httptest.NewRecorder()
		api.NewHandler(willing{}).ServeHTTP(w, httptest.NewRequest(p.method, p.path, strings.NewReader(body)))
		require.NotEqual(t, http.StatusBadRequest, w.Code, p.path)
		out.row("`"+p.method+" "+p.path+"`", p.body, p.answer, p.meaning)
	}
	return out
}

func TestPaths(t *testing.T) {
	known := make(map[string]bool)
	for _, p := range paths {
		known[p.method+" "+p.path] = true
	}
	found := 0
	for _, file := range newSource(t).tree("api") {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "HandleFunc" {
				return true
			}
			pattern := strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)
			assert.True(t, known[pattern] || pattern == "/", pattern)
			found++
			return true
		})
	}
	assert.Equal(t, len(paths)+1, found)
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
