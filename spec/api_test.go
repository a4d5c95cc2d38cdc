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
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/ident"
)

// statusWords say what the fields of the local API's status mean.
var statusWords = map[string]string{
	"v":                                    "1",
	"member":                               "this member's id",
	"name":                                 "its name",
	"group":                                "group id",
	"group_name":                           "the group's name",
	"configuration_version":                "version of the group configuration in force at this member",
	"incarnation":                          "this member's incarnation, which names its custody memory",
	"mode":                                 "`durable` or `volatile`",
	"cause":                                "what keeps this member from all of its resources, in a word of the table below; `ok` if nothing does",
	"sentence":                             "the same in a sentence for people, which may change",
	"since_s":                              "for how long it has been so; null if that is not known",
	"link.last_heard_s":                    "time since anything came from another member; null if nothing has since the start",
	"link.unanswered":                      "dials that reached no member, since anything came",
	"link.silent":                          "none of these had an answer of any kind, not even a refusal",
	"link.silent_s":                        "for how long no peer has answered, though all that are connected were asked, or one was dialled in vain; 0 if that is not so",
	"link.isolated":                        "no member is connected, and nothing has come for 15 seconds, or ever, although a dial since then reached none; with a token here, programs still run",
	"link.others":                          "other members that this one knows",
	"link.nobody_left":                     "the member is isolated, and each other one that it knows has left, was revoked, has failed or has no valid certificate",
	"link.no_addresses":                    "the member is isolated and only dials out, as all do that it knows",
	"link.clock_ahead_s":                   "by how much this machine's clock is ahead of the median of its peers' clocks",
	"stopping":                             "the daemon passes on what it holds, and grants nothing",
	"key_retired":                          "the authority's key that signed this member's certificate is retired",
	"renewing":                             "how the authority renews an expired certificate within `renew_grace`, for people; empty if it does not",
	"invalid":                              "why this member's certificate does not count: a state of a member; empty if it counts",
	"resources[].cause":                    "why no program runs here, in a word of the table below",
	"resources[].sentence":                 "the same in a sentence for people, which may change",
	"resources[].since_s":                  "for how long it has been so, or how old the news is; null if that is not known",
	"resources[].slots[].holder.member":    "id of the member that has the token, as far as is known; `holder` is absent if that is not known",
	"resources[].slots[].holder.name":      "its name",
	"resources[].slots[].holder.hop":       "the hop at which it has the token",
	"resources[].slots[].holder.fence":     "fence of a program that runs there (**O-21**), in decimal digits; absent if not known",
	"resources[].slots[].holder.how":       "how that is known: `here`, `told` by another member, `said` by the holder itself, or `proved` by its receipt",
	"resources[].slots[].holder.by":        "id of the member that has said so; of `proved`, this member's",
	"resources[].slots[].holder.by_name":   "its name",
	"resources[].slots[].holder.age_s":     "how old that news is",
	"resources[].slots[].holder.since_s":   "for how long this member has known, at least, that the token is there; null if it is here",
	"resources[].slots[].holder.program_s": "for how long a program has run there, at least; null if none is known to, or if it runs here since before a restart",
	"resources[].slots[].holder.program_ends_s": "after what time the program there has ended at the latest; null if none is known of",
	"resources[].slots[].holder.away_s":         "for how long it may yet say nothing while its machine restarts, as it has said (**P-99**); null if it has not",
	"resources[].slots[].search.stage":          "`asking` while this member asks for the missing token, `lost` when no member has it; `search` is absent otherwise",
	"resources[].slots[].search.due_s":          "after what time a lost token is replaced, as far as is known now; null before that",
	"resources[].slots[].eta.p50_s":             "after what time the token comes, in half of all cases; `eta` is absent if nothing is known to predict from, and while the token is lost",
	"resources[].slots[].eta.p95_s":             "after what time it comes in 19 of 20 cases",
	"resources[].slots[].eta.basis":             "what that rests on: `order` of the members that wait, or `returns` of the token to this member",
	"resources[].slots[].eta.before":            "of `order`: how many members have waited longer, as far as is known",
	"resources[].slots[].eta.overdue":           "of `order`: the present turn takes longer than 19 of 20 of late, and the times count from its end",
	"resources[].slots[].long.took_s":           "for how long the present turn has lasted, at least; `long` is absent unless that is much longer than turns of late took, and there is no `eta` then",
	"resources[].slots[].long.usual_s":          "what half of the turns of late did not exceed",
	"resources[].max_hold_s":                    "after what time a program is killed at the latest; 0 of a resource that is leaving since before the last restart",
	"resources[].slots[].asker.user":            "the local user who asked for what runs here (**A-11**); `asker` is absent if nothing runs, for the daemon's own operation, and if that is not known",
	"resources[].slots[].asker.group":           "that user's primary group",
	"resources[].slots[].asker.process":         "the number of the process that asked; 0 if it is in another namespace of processes",
	"users[].user":                              "a local user whose programs wait or hold now",
	"users[].programs":                          "how many do, over connections that are open",
	"resources[].slots[].founding":              "the slot's first token is being made",
	"uptime_s":                                  "time since the daemon's start",
	"address":                                   "where the member listens; empty when it only dials out",
	"peers[].member":                            "id of a member that this one is or was connected with",
	"peers[].name":                              "its name",
	"peers[].connected":                         "whether a connection is open now",
	"resources[].name":                          "name of the resource",
	"resources[].policy":                        "name of its policy",
	"resources[].preset":                        "name of its preset, even if the configuration leaves that to the policy. Preset and policy are empty for a resource that was leaving before the last restart and still is",
	"resources[].slots[].slot":                  "number of the slot, from 0",
	"resources[].slots[].leaving":               "the configuration lacks the slot, and a program still runs in it (**P-46**)",
	"resources[].slots[].held":                  "a token is here",
	"resources[].slots[].executing":             "a program runs under a grant",
	"resources[].slots[].token":                 "the last token seen; absent if there was none",
	"resources[].slots[].hop":                   "the hop of that token",
	"resources[].slots[].tokens_seen":           "how often a token came",
	"resources[].slots[].last_seen_s":           "time since a token was last here; null if never",
	"resources[].slots[].last_operation_s":      "time since the operation last ran at any member, as far as is known here (**P-4**); null if never",
	"resources[].slots[].operations":            "operations at this member",
	"resources[].slots[].isolated_s":            "for how long no program here could begin for want of votes (**P-67**); absent if votes come",
	"resources[].slots[].missing_votes":         "ids of the members whose votes have not come; absent if votes come",
	"resources[].slots[].gate.reachable":        "the resource has a gate, and this member a connection with it; `gate` is absent without one",
	"resources[].slots[].gate.unreached":        "why there is no connection with the gate: how the last dial ended; absent if there is one, or nothing is known",
	"resources[].slots[].gate.observes":         "whether the gate only observes (`gate_mode`); absent if not",
	"resources[].slots[].gate.said":             "what the gate has said last about this slot (gate.md), or `asked`; empty if nothing yet",
	"resources[].slots[].gate.said_s":           "how many seconds ago the gate said what it has said last; absent if it has said nothing, or was asked since",
	"resources[].slots[].gate.asked_s":          "for how many seconds a program here has waited for the gate's answer, or for the end of the session before; absent if none does",
	"resources[].slots[].gate.hinders":          "why it lets no program in here: `unanswered`, `busy`, `stuck`, `refused`, or `useless` where it has opened for too short a time or against its rules, or ended the wait; absent if it does",
	"resources[].slots[].gate.session":          "number of the session that its last answer names, in decimal digits; absent if none",
	"resources[].slots[].gate.not_before":       "when the gate's refusal ends, RFC 3339; absent if it has not said",
	"resources[].slots[].return_s":              "time between the last two operations at this member; 0 before the second one",
	"resources[].slots[].gauges{}":              "figures of the policy, by names that end in their unit; absent if the policy has none",
	"resources[].waiting":                       "local programs that wait",
	"resources[].windows.text":                  "when programs may run, as the group's file has it (**P-90**), with semicolons between windows; `windows` is absent if they always may",
	"resources[].windows.closed":                "no program begins now, by this member's clock (**P-91**) or by that of the resource's gate (**R-89**)",
	"resources[].windows.by_gate":               "they are closed by the clock of the gate, and open by this member's; absent otherwise",
	"resources[].windows.opens":                 "when programs may begin again; absent if they may now, or as far as can be seen never will",
	"resources[].windows.closes":                "when the window that is open closes; absent if none is",
	"resources[].windows.opens_s":               "after what time programs may begin again; null if they may now, or as far as can be seen never will",
	"resources[].no_place":                      "the policy is `ring`, and this member has no place on the ring (**P-17**), so it gets no turn",
	"handoffs.ok":                               "transfers of this member that their receivers took",
	"handoffs.retried":                          "OFFERs sent again to the same member",
	"handoffs.reselected":                       "how often this member drew another receiver",
	"handoffs.in_doubt":                         "transfers that have no answer yet",
	"handoffs.in_doubt_resolved":                "transfers that this member had to send again and that then got a receipt or void",
	"tokens.generated":                          "tokens that this member generated",
	"membership.revocation_version":             "version up to which every revocation is known here",
	"membership.behind":                         "certificates show that the CA has published something that is not known here yet",
	"membership.snapshots":                      "peers with which this member has compared directories since it joined, at most 3",
	"membership.exchanges":                      "comparisons of directories that this member began",
	"membership.updates_pending":                "updates that this member still has to disseminate",
	"membership.suspects":                       "members that this one suspects",
	"membership.late_s":                         "by how much this member's process runs late (**D-49**), as far as that counts; 0 while it is punctual",
	"membership.patience":                       "its health multiplier: how many times as long it therefore waits before it suspects others, 1 to 8",
	"evidence.kept":                             "files of evidence (journal.md)",
	"evidence.unsent":                           "of these, those not yet brought to the CA",
	"evidence.folder":                           "the folder that they are in",
	"membership.faults[].member":                "id of a member that handed over such objects",
	"membership.faults[].count":                 "number of forged or malformed objects from it",
	"membership.faults[].stale":                 "number of objects from it that something newer had replaced: honest in small numbers",
	"membership.faults[].last":                  "what its last fault was",
	"warnings[].cause":                          "what an operator has to look at, by its word below",
	"warnings[].sentence":                       "the same in one sentence",
	"tokens.dropped":                            "tokens that this member dropped",
	"rejected{}":                                "messages that changed nothing, by reason (refusals.md)",
	"journal.segments":                          "number of its segments",
	"journal.bytes":                             "size of all segments",
	"journal.fsyncs":                            "syncs of the disk",
	"journal.recalling":                         "after a restart, this member still waits for the HELLOs of its peers (**H-72**)",
	"journal.went_back":                         "how often this member gave up its custody memory (**H-73**)",
	"resources[].weight":                        "weight of this member, by its class; absent if the resource has no weights",
	"certificate_expires":                       "when this member's certificate expires, RFC 3339",
}

// memberWords are those of the list of members.
var memberWords = map[string]string{
	"v":                   "1",
	"members[].member":    "id",
	"members[].name":      "its name",
	"members[].class":     "the class in its certificate; absent if it has none",
	"members[].state":     "one of ",
	"members[].connected": "whether a connection is open now",
	"members[].self":      "whether it is the member that answers",
	"members[].suspected": "whether the member that answers suspects it",
	"members[].sequence":  "number of its endpoint record; 0 when none is known",
	"members[].addresses": "the addresses in its endpoint record",
	"members[].expires":   "when its certificate expires, RFC 3339",
}

// checkupWords, probeWords and historyWords are those of what people look at.
var (
	checkupWords = map[string]string{
		"v": "1", "checks[].name": "what was looked at", "checks[].result": "`ok`, `warn`, `fail` or `skipped`",
		"checks[].finding": "what was found, in a sentence for people", "checks[].advice": "what to do about it; empty if nothing",
	}
	probeWords   = map[string]string{"peer": "name or id of a member, or `host:port`"}
	historyWords = map[string]string{
		"v": "1", "resources[].name": "name of the resource",
		"resources[].members[].name":    "name of a member, or its id if that is not known. Those with most turns are first. Empty is for turns of which this member knows only by the token's hop that they were",
		"resources[].members[].turns":   "how often it had the token in each of the last 60 minutes, as far as this member has heard. The minute that runs now is last",
		"resources[].waits[].count":     "waits of programs here that ended in a minute; there are 60 of them, in the same order",
		"resources[].waits[].mean_s":    "their mean length",
		"resources[].waits[].longest_s": "the longest of them",
		"resources[].overlap_s":         "for how long more programs may have run at once than there are slots, as far as this member has heard",
	}
)

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
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		eachField(t.Elem(), path, visit) // it is absent as a whole
	case t.Kind() == reflect.Pointer:
		eachField(t.Elem(), path, func(path, kind string) { visit(path, kind+" or null") })
	case t.Kind() == reflect.Map:
		eachField(t.Elem(), path+"{}", visit)
	case t == reflect.TypeFor[[]byte]():
		visit(path, "string, base64")
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Struct:
		eachField(t.Elem(), path, func(path, kind string) { visit(path, "list of "+kind+"s") })
	case t.Kind() == reflect.Slice:
		eachField(t.Elem(), path+"[]", visit)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).Anonymous {
				eachField(t.Field(i).Type, path, visit)
				continue
			}
			name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "-" { // it does not travel
				continue
			}
			eachField(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."), func(path, kind string) {
				switch options {
				case "omitempty":
					kind = strings.TrimSuffix(kind, ", or absent") + ", or absent" // what is within may be absent, too
				case "string":
					kind = "string"
				case "string,omitempty":
					kind = "string, or absent"
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
	"resource":      "name, 1 to 64 bytes",
	"wait_ms":       "how long to wait: absent or null for without end, 0 for not at all",
	"max_hold_ms":   "a shorter grant than the resource permits; 0 or absent for as long as it permits",
	"min_hold_ms":   "how long to keep the token here after the grant, even if the program releases it sooner, but no longer than the daemon runs; 0 or absent for not at all",
	"once_per_ms":   "refuse (`not_due`) if the operation ran more recently than this, as far as is known here (**P-4**); 0 or absent for never",
	"held":          "ids of the grants that the program itself runs under, at most 64. The daemon refuses the demand (`held`) if one of them is in force for this resource at this member; other ids have no effect",
	"across_reboot": "whether the grant lasts across a restart of the machine (**A-14**)",
	"progress":      "whether to tell what the program waits for while it does (**A-4**)",
	"label":         "shown to people, without effect; at most 128 bytes",
	"pid":           "the program's process id, shown to people, without effect",
}

// grantWords are those of a grant.
var grantWords = map[string]string{
	"id":               "the grant's id",
	"resource":         "what was granted",
	"member":           "id of the member that it was granted to",
	"name":             "name of that member",
	"token":            "the token under which the program runs",
	"hop":              "the token's hop",
	"fence":            "the grant's fence (**O-21**), in decimal digits",
	"gate_fence":       "number of the session at the resource's gate ([gate.md](gate.md)), in decimal digits; absent if the resource has none",
	"deadline":         "RFC 3339, as this machine's wall clock would show it",
	"deadline_boot_ns": "the deadline itself: nanoseconds of the clock that counts suspended time (CLOCK_BOOTTIME on Linux)",
	"boot_id":          "id of the boot that `deadline_boot_ns` counts from (on Linux /proc/sys/kernel/random/boot_id); absent where the system has none",
	"permit":           "the encoded permit of the custody ([permit.md](permit.md)): evidence, and no secret; absent if the member could not build it",
	"return_s":         "in how many seconds from the grant on the member expects its next grant of the resource, in half of all cases; absent if it has had too few since it started",
	"return_p95_s":     "the same in 19 of 20 cases",
}

// waitingWords are those of the event waiting.
var waitingWords = map[string]string{
	"cause": "why no program runs here, in a word of the table of causes", "sentence": "the same in a sentence for people",
	"p50_s": "after what time the token comes in half of all cases; null if nothing is known to predict from", "p95_s": "after what time it comes in 19 of 20 cases",
	"before_you": "how many members have waited longer, as far as is known; null if nothing is",
}

var releaseWords = map[string]string{
	"grant": "the grant's id", "operated": "whether the program used the resource at all",
	"exit":              "exit code of the command that used it; 0 if there was no command. Shown to people, without effect",
	"seen_from_boot_ns": "when the program was first seen running, on the clock of `deadline_boot_ns`; 0 or absent if not known",
	"seen_to_boot_ns":   "when it was last seen running. Both are for auditors (journal.md), without effect on the daemon",
}

var renewalWords = map[string]string{
	"v": "1", "serial": "serial number of the certificate in force now", "expires": "when that certificate expires, RFC 3339",
	"newer": "whether it is another certificate than before",
}

// paths are the requests of the local API.
var paths = []struct{ method, path, body, answer, meaning string }{
	{"POST", "/v1/acquire", "a demand", "a stream of events (**A-4**)", "wait for a resource"},
	{"POST", "/v1/release", "a release", "`{\"v\":1}`", "end a grant (**A-6**)"},
	{"POST", "/v1/back", "a back", "`{\"v\":1,\"ended\":…}`", "end the grants of a resource that last across a restart of the machine (**A-14**)"},
	{"GET", "/v1/status", "none", "the status", "what this one member knows"},
	{"GET", "/v1/members", "none", "the members", "the members that it knows"},
	{"POST", "/v1/leave", "none", "`{\"v\":1}`", "leave the group permanently (**D-40**); then the daemon ends"},
	{"POST", "/v1/renew", "none", "the renewal", "ask the authority for a newer certificate now"},
	{"POST", "/v1/connect", "a connect", "bytes and frames (**A-9**)", "a stream to the resource through its gate"},
	{"GET", "/v1/checkup", "none", "a checkup", "what an operator can mend"},
	{"POST", "/v1/probe", "a probe", "a checkup", "dial one member once, at the addresses that this one knows or at the one that is given, and say what has answered"},
	{"GET", "/v1/history", "none", "the history", "the last hour of each resource, by minutes"},
}

// willing is a backend that does all that it is asked for.
type willing struct{ api.Backend }

func (willing) Acquire(context.Context, api.AcquireRequest) (api.HeldGrant, error) {
	return nil, api.ErrNotGranted
}
func (willing) Back(string) (int, error)            { return 0, nil }
func (willing) Release(api.ReleaseRequest) error    { return nil }
func (willing) Status() api.Status                  { return api.Status{} }
func (willing) Members() []api.MemberInfo           { return nil }
func (willing) Waiting(string) api.Waiting          { return api.Waiting{} }
func (willing) Checkup(context.Context) []api.Check { return nil }
func (willing) LastHour() []api.ResourceHistory     { return nil }
func (willing) Probe(context.Context, api.ProbeRequest) ([]api.Check, error) {
	return nil, nil
}
func (willing) Leave(context.Context) error                { return nil }
func (willing) Renew(context.Context) (api.Renewal, error) { return api.Renewal{}, nil }
func (willing) Connect(context.Context, api.ConnectRequest) (api.Tunnel, error) {
	return nil, api.ErrNoSession
}

// pathTable is the requests that the handler knows; TestPaths finds that there are
// no others.
func pathTable(t *testing.T) *table {
	out := newTable("request", "body", "answer", "")
	for _, p := range paths {
		body := ""
		if p.body == "a demand" || p.body == "a back" {
			body = `{"resource":"r"}`
		} else if p.body == "a probe" {
			body = `{"peer":"m"}`
		} else if p.body == "a release" || p.body == "a connect" {
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

// reasonTable is every word for why nothing runs.
func reasonTable() *table {
	out := newTable("of", "cause", "meaning")
	for _, r := range explain.OfMember {
		out.row("member", "`"+string(r.Cause)+"`", r.Meaning)
	}
	for _, r := range explain.OfResource {
		out.row("resource", "`"+string(r.Cause)+"`", r.Meaning)
	}
	for _, r := range explain.OfWarning {
		out.row("warning", "`"+string(r.Cause)+"`", r.Meaning)
	}
	return out
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
