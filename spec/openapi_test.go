package spec_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
)

// openAPI is the local API in the form that tools read. It is made of what the tables of api.md are made of.
const openAPI = "openapi.json"

// An object of JSON.
type object = map[string]any

// TestOpenAPI_Document_OfTheTables holds openapi.json to the tables: `go test ./spec -update` writes it anew.
func TestOpenAPI_Document_OfTheTables(t *testing.T) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(openAPIDocument(t)))
	if *update {
		require.NoError(t, os.WriteFile(openAPI, b.Bytes(), 0o644))
	}
	have, err := os.ReadFile(openAPI)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(have), "%s: run go test ./spec -update and read the difference", openAPI)
}

func openAPIDocument(t *testing.T) object {
	members := maps.Clone(memberWords)
	members["members[].state"] += strings.Join(stateWords(t), ", ")
	connectWords := map[string]string{"grant": "the id of a grant with an open session", "target": "which of several targets; absent for the one without a name"}
	schemas := object{
		"Demand":       schemaOf(t, reflect.TypeFor[api.AcquireRequest](), acquireWords, true),
		"Release":      schemaOf(t, reflect.TypeFor[api.ReleaseRequest](), releaseWords, true),
		"Probe":        schemaOf(t, reflect.TypeFor[api.ProbeRequest](), probeWords, true),
		"Connect":      schemaOf(t, reflect.TypeFor[api.ConnectRequest](), connectWords, true),
		"Back":         closed(object{"resource": kind("string", "what was granted")}, "resource"),
		"Grant":        schemaOf(t, reflect.TypeFor[api.Grant](), grantWords, false),
		"Waiting":      schemaOf(t, reflect.TypeFor[api.Waiting](), waitingWords, false),
		"Status":       schemaOf(t, reflect.TypeFor[api.Status](), statusWords, false),
		"Members":      schemaOf(t, reflect.TypeFor[api.MemberList](), members, false),
		"Renewal":      schemaOf(t, reflect.TypeFor[api.Renewal](), renewalWords, false),
		"Checkup":      schemaOf(t, reflect.TypeFor[api.Checkup](), checkupWords, false),
		"History":      schemaOf(t, reflect.TypeFor[api.History](), historyWords, false),
		"Done":         open(object{}),
		"Ended":        open(object{"ended": kind("integer", "how many grants were ended")}, "ended"),
		"Refusal":      open(object{"error": ref("Reason")}, "error"),
		"Reason":       reason(t),
		"Event":        object{"oneOf": []any{ref("Granted"), ref("Lost"), ref("WaitingEvent"), ref("Refused"), ref("OtherEvent")}},
		"Granted":      event("granted", object{"grant": ref("Grant")}, "grant"),
		"Lost":         event("lost", object{"reason": kind("string", "why, in a word: a client must take any for one that came later")}, "reason"),
		"Refused":      event("refused", object{"error": ref("Reason")}, "error"),
		"V":            object{"const": api.Version, "description": "the version of this API: a client must refuse another one"},
		"WaitingEvent": object{"allOf": []any{event("waiting", object{}), ref("Waiting")}},
		"OtherEvent": object{
			"type": "object", "description": "a client must skip it", "required": []string{"v", "event"},
			"properties": object{"v": ref("V"), "event": object{"type": "string", "not": object{"enum": []string{"granted", "lost", "waiting", "refused"}}}},
		},
	}
	list := object{}
	for _, p := range paths {
		operation := object{"summary": p.meaning, "operationId": strings.TrimPrefix(p.path, "/v1/"), "responses": responses(t, p.path, p.answer)}
		if p.body != "none" {
			name := strings.TrimPrefix(p.body, "a ")
			operation["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": ref(strings.ToUpper(name[:1]) + name[1:])}}}
		}
		operation["summary"] = plain(p.meaning)
		list[p.path] = object{strings.ToLower(p.method): operation}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "wander's local API", "version": "1", "summary": "How programs of one machine ask its member for a resource",
			"description": "HTTP/1.1 on a Unix socket, by default /var/lib/wander/wander.sock. The server's name below is only for tools that need one. " +
				"The text is api.md of the specification, where the requirements are.",
		},
		"servers":    []any{object{"url": "http://localhost", "description": "behind the Unix socket"}},
		"security":   []any{},
		"paths":      list,
		"components": object{"schemas": schemas},
	}
}

// answers are the schemas of what is answered, by the words of the table of requests.
var answers = map[string]string{
	"the status": "Status", "the members": "Members", "the renewal": "Renewal", "a checkup": "Checkup", "the history": "History",
	"`{\"v\":1}`": "Done", "`{\"v\":1,\"ended\":…}`": "Ended",
}

func responses(t *testing.T, path, answer string) object {
	refused := object{"description": "a refusal", "content": object{"application/json": object{"schema": ref("Refusal")}}}
	out := object{"default": refused}
	switch name, ok := answers[answer]; {
	case ok:
		out["200"] = object{"description": plain(answer), "content": object{"application/json": object{"schema": ref(name)}}}
	case path == "/v1/acquire":
		out["200"] = object{"description": "events, one on a line", "content": object{"application/x-ndjson": object{"schema": ref("Event")}}}
	case path == "/v1/connect":
		out["101"] = object{"description": "the connection carries bytes to the resource, and frames from it"}
	default:
		require.Fail(t, "no answer", path)
	}
	return out
}

func reason(t *testing.T) object {
	var words []string
	for _, line := range apiTable(t).lines[2:] {
		code, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		words = append(words, code)
	}
	return object{
		"type": "object", "required": []string{"code", "message"},
		"properties": object{
			"code":    object{"type": "string", "description": "one of " + strings.Join(words, ", ") + "; a later version may have more"},
			"message": kind("string", "what happened, in a line for people"),
			"hint":    kind("string", "what to do about it, in a line for people"),
			"gate":    kind("string", "what the resource's gate has said last, where that is why there is no grant"),
		},
	}
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func kind(of, description string) object { return object{"type": of, "description": description} }

// open is an answer: a client skips fields that it does not know.
func open(fields object, required ...string) object {
	fields["v"] = ref("V")
	return object{"type": "object", "required": append([]string{"v"}, required...), "properties": fields}
}

// closed is a request: the daemon refuses fields that it does not know.
func closed(fields object, required ...string) object {
	return object{"type": "object", "required": required, "properties": fields, "additionalProperties": false}
}

func event(name string, fields object, required ...string) object {
	fields["event"] = object{"const": name}
	return open(fields, append([]string{"event"}, required...)...)
}

var links = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// plain is a text of the tables without its marks.
func plain(text string) string {
	return strings.NewReplacer("**", "", "`", "").Replace(links.ReplaceAllString(text, "$1"))
}

// schemaOf is the schema of a type, described in the words of its table.
func schemaOf(t *testing.T, of reflect.Type, words map[string]string, request bool) object {
	s := schema(t, of, "", words)
	if request {
		s["additionalProperties"] = false
	}
	if properties := s["properties"].(object); properties["v"] != nil {
		properties["v"] = ref("V")
	}
	return s
}

func schema(t *testing.T, of reflect.Type, path string, words map[string]string) object {
	described := func(s object) object {
		require.Contains(t, words, path)
		s["description"] = plain(words[path])
		return s
	}
	switch {
	case of == reflect.TypeFor[time.Time]():
		return described(object{"type": "string", "format": "date-time"})
	case of.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return described(object{"type": "string"})
	case of == reflect.TypeFor[[]byte]():
		return described(object{"type": "string", "contentEncoding": "base64"})
	case of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Struct:
		return schema(t, of.Elem(), path, words)
	case of.Kind() == reflect.Pointer:
		s := schema(t, of.Elem(), path, words)
		s["type"] = []any{s["type"], "null"}
		return s
	case of.Kind() == reflect.Map:
		return object{"type": "object", "additionalProperties": schema(t, of.Elem(), path+"{}", words)}
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
		return object{"type": "array", "items": schema(t, of.Elem(), path+"[]", words)}
	case of.Kind() == reflect.Slice:
		return described(object{"type": "array", "items": bare(schema(t, of.Elem(), path, words))})
	case of.Kind() == reflect.Struct:
		return fields(t, of, path, words)
	case of.Kind() == reflect.Bool:
		return described(object{"type": "boolean"})
	case of.Kind() == reflect.String:
		return described(object{"type": "string"})
	case of.Kind() == reflect.Float64:
		return described(object{"type": "number"})
	}
	s := object{"type": "integer"}
	if of.Kind() >= reflect.Uint && of.Kind() <= reflect.Uint64 {
		s["minimum"] = 0
	}
	return described(s)
}

// bare is a schema of which another one says what it means.
func bare(s object) object {
	delete(s, "description")
	return s
}

func fields(t *testing.T, of reflect.Type, path string, words map[string]string) object {
	properties, required := object{}, []string{}
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Anonymous {
			inner := fields(t, f.Type, path, words)
			for name, s := range inner["properties"].(object) {
				properties[name] = s
			}
			required = append(required, inner["required"].([]string)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" { // it does not travel
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if strings.HasPrefix(options, "string") {
			require.Contains(t, words, at)
			properties[name] = object{"type": "string", "pattern": "^[0-9]+$", "description": plain(words[at])}
		} else {
			properties[name] = schema(t, f.Type, at, words)
		}
		if !strings.HasSuffix(options, "omitempty") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}
