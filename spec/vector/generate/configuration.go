package main

import (
	"fmt"
	"strings"

	"github.com/wandertoken/wander/spec/vector"
)

// groupNames are edits of the name of a group, resource or policy.
func groupNames(what, req string, path ...int) []edit {
	const no = "group.ErrName"
	return []edit{
		good(what+"-64", "a "+what+" of 64 characters", req, text(strings.Repeat("z", 64)), path...),
		bad(what+"-65", "a "+what+" of 65 characters", req, no, text(strings.Repeat("z", 65)), path...),
		bad(what+"-empty", "an empty "+what, req, no, text(""), path...),
		bad(what+"-upper", "a "+what+" with a capital", req, no, text("Demo"), path...),
		bad(what+"-dot", "a "+what+" that begins with a dot", req, no, text(".demo"), path...),
	}
}

func configurationObject() *object {
	o := byAuthority("configuration", "group.ErrMalformed", configurationPayload(resource(resourceName)), 7)
	o.unknownSigner = "group.ErrAuthorities" // it does not list that key
	const outOfRange = "group.ErrOutOfRange"
	o.edits = append(groupNames("name", "O-1", 1), groupNames("resource-name", "O-1", 3, 0, 0)...)
	o.edits = append(o.edits,
		bad("version-0", "version 0", "O-1", "group.ErrVersion", uintOf(0), 0),
		bad("issued-10000", "issued in the year 10000", "O-1", outOfRange, uintOf((lastSecond+1)*1000), 2),
		bad("resources-0", "no resource", "O-1", "group.ErrResources", array(), 3),
		good("resources-1024", "1024 resources", "O-1", array(manyResources(1024)...), 3),
		bad("resources-1025", "1025 resources", "O-1", "group.ErrResources", array(manyResources(1025)...), 3),
		bad("resources-twice", "one resource twice", "O-1", "group.ErrResources", array(resource("ftp"), resource("ftp")), 3),
		bad("resources-unsorted", "resources in another order", "O-1", "group.ErrResources", array(resource("ftp"), resource("audit")), 3),
		bad("policy-unknown", "a policy that nobody knows", "O-5", "catalog.ErrUnknownPolicy", text("lottery"), 3, 0, 1),
		bad("preset-unknown", "a preset that the policy does not have", "O-5", "policy.ErrPreset", text("fast"), 3, 0, 2),
		good("preset-empty", "the policy's default preset", "O-1", text(""), 3, 0, 2),
		bad("slots-0", "no slot", "O-1", outOfRange, uintOf(0), 3, 0, 3),
		good("slots-1024", "1024 slots", "O-1", uintOf(1024), 3, 0, 3),
		bad("slots-1025", "1025 slots", "O-1", outOfRange, uintOf(1025), 3, 0, 3),
		bad("max-hold-0", "no time to hold", "O-1", outOfRange, uintOf(0), 3, 0, 5),
		bad("max-hold-week", "a millisecond more than a week to hold", "O-1", outOfRange, uintOf(604800001), 3, 0, 5),
		good("on-isolated-majority", "programs need the votes of a majority", "O-1", uintOf(2), 3, 0, 6),
		bad("on-isolated-3", "another reaction to a cut, of a later version", "O-1", "policy.ErrOutOfRange", uintOf(3), 3, 0, 6),
		bad("authorities-0", "no CA key", "O-1", "group.ErrAuthorities", array(), 5),
		bad("authorities-other", "without the signer's key", "O-1", "group.ErrAuthorities", array(bstr(secondCA.id)), 5).harmful(),
		bad("authorities-twice", "one CA key twice", "O-1", "group.ErrAuthorities", array(bstr(firstCA.id), bstr(firstCA.id)), 5),
		bad("authorities-9", "nine CA keys", "O-1", "group.ErrAuthorities", array(manyIDs(firstCA.id, 9)...), 5),
	)
	o.edits = append(append(append(append(append(o.edits, parameterEdits()...), constantEdits()...), gateEdits()...), windowEdits()...), weightEdits()...)
	return o
}

// parameterEdits are edits of the parameters of a policy (O-14).
func parameterEdits() []edit {
	const outOfRange = "policy.ErrOutOfRange"
	params := func(slug, about, outcome string, pairs ...uint64) edit {
		m := dict()
		for _, n := range pairs {
			m.Items = append(m.Items, uintOf(n))
		}
		if outcome == vector.Valid {
			return good(slug, about, "O-14", m, 3, 0, 4)
		}
		return bad(slug, about, "O-14", outcome, m, 3, 0, 4)
	}
	return []edit{
		params("parameter-min-interval", "an optional parameter", vector.Valid, 1, 4000, 2, 100, 3, 1000, 4, 60000),
		params("parameter-zero", "a parameter with the value 0", "group.ErrMalformed", 1, 4000, 2, 100, 3, 1000, 4, 0),
		params("parameter-unknown", "a parameter that nobody knows", "group.ErrParameter", 1, 4000, 2, 100, 3, 1000, 99, 1),
		params("parameter-absent", "without operation_time", outOfRange, 2, 100, 3, 1000),
		params("parameter-members", "members_max of 1000001", outOfRange, 1, 1, 2, 1000001, 3, 1000),
		params("parameter-operation", "an operation of a millisecond more than a week", outOfRange, 1, 604800001, 2, 1, 3, 1000),
		params("parameter-skip", "skip_delay of a millisecond more than an hour", outOfRange, 1, 4000, 2, 100, 3, 3600001),
		params("parameter-product", "members_max times operation_time above ten years", outOfRange, 1, 604800000, 2, 522, 3, 1000),
		good("parameter-choice", "another one than the default", "O-14", array(text("ftp"), text("wandering"), text("fair"), uintOf(1),
			dict(uintOf(1), uintOf(4000), uintOf(2), uintOf(100), uintOf(3), uintOf(1000), uintOf(14), uintOf(1)), uintOf(4000), uintOf(0), array(), dict(), dict()), 3, 0),
		params("parameter-choice-paper", "a choice that the preset does not use", "policy.ErrUnused", 1, 4000, 2, 100, 3, 1000, 14, 1),
		params("parameter-choice-2", "a choice that nobody knows", outOfRange, 1, 4000, 2, 100, 3, 1000, 14, 2),
		params("parameter-unused", "a parameter that the policy does not use", "policy.ErrUnused", 1, 4000, 2, 100, 3, 1000, 7, 60000),
	}
}

// windowOf is a window of a resource, at night in Rome.
func windowOf() item {
	return array(uintOf(31), uintOf(1320), uintOf(360), text("CET-1CEST,M3.5.0,M10.5.0/3"), text("Europe/Rome"))
}

// windowEdits are edits of the windows of a resource.
func windowEdits() []edit {
	const refused, malformed = "group.ErrWindows", "group.ErrMalformed"
	valid := func(slug, about string, windows ...item) edit {
		return good("windows-"+slug, about, "P-90", array(windows...), 3, 0, 7)
	}
	invalid := func(slug, about, outcome string, windows ...item) edit {
		return bad("windows-"+slug, about, "P-90", outcome, array(windows...), 3, 0, 7)
	}
	zone := func(slug, about, rule string) edit {
		return invalid("zone-"+slug, about, refused, with(windowOf(), text(rule), 3))
	}
	many := func(n int) (list []item) {
		for range n {
			list = append(list, windowOf())
		}
		return list
	}
	return []edit{
		valid("night", "a night over midnight", windowOf()),
		valid("day", "a whole day", with(with(windowOf(), uintOf(0), 1), uintOf(0), 2)),
		valid("utc", "a zone without daylight saving time", with(windowOf(), text("UTC0"), 3)),
		valid("south", "a summer over the new year", with(windowOf(), text("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"), 3)),
		valid("long-time", "a change two days after its day", with(windowOf(), text("EET-2EEST,M3.4.4/50,M10.4.4/50"), 3)),
		valid("julian", "changes on days of the year", with(windowOf(), text("XXX-2<+01>-1,0/0,J365/23"), 3)),
		valid("8", "eight windows", many(8)...),
		invalid("9", "nine windows", refused, many(9)...),
		invalid("no-day", "on no day", refused, with(windowOf(), uintOf(0), 0)),
		invalid("day-8", "on an eighth day", refused, with(windowOf(), uintOf(128), 0)),
		invalid("day-257", "on days beyond a byte", refused, with(windowOf(), uintOf(257), 0)),
		invalid("begin-1440", "a begin after the day", refused, with(windowOf(), uintOf(1440), 1)),
		invalid("end-1440", "an end after the day", refused, with(windowOf(), uintOf(1440), 2)),
		invalid("end-65536", "an end beyond two bytes", refused, with(windowOf(), uintOf(65536), 2)),
		invalid("name-empty", "a zone without a name", refused, with(windowOf(), text(""), 4)),
		invalid("name-space", "a name with a space", refused, with(windowOf(), text("Europe Rome"), 4)),
		invalid("name-65", "a name of 65 characters", refused, with(windowOf(), text(strings.Repeat("a", 65)), 4)),
		invalid("short", "a window without its name", malformed, array(windowOf().Items[:4]...)),
		invalid("null", "null in place of a window", malformed, null),
		zone("empty", "an empty rule", ""),
		zone("name", "a name in place of a rule", "Europe/Rome"),
		zone("no-change", "a daylight saving time without its dates", "CET-1CEST"),
		zone("month-13", "a month 13", "CET-1CEST,M13.5.0,M10.5.0"),
		zone("week-6", "a sixth week", "CET-1CEST,M3.6.0,M10.5.0"),
		zone("hour-168", "a change a week after its day", "CET-1CEST,M3.5.0/168,M10.5.0"),
		zone("offset-25", "an offset of 25 hours", "CET-25"),
		zone("rest", "something after the rule", "CET-1CEST,M3.5.0,M10.5.0/3,"),
		zone("65", "a rule of 65 characters", strings.Repeat("C", 63)+"-1"),
		{fault{slug: "windows-operation", about: "a window that is shorter than an operation", req: "P-90", outcome: refused}, func(p *item) {
			r := &p.Items[3].Items[0]
			r.Items[4].Items[1], r.Items[5] = uintOf(60001), uintOf(60001)
			r.Items[7] = array(with(with(windowOf(), uintOf(0), 1), uintOf(1), 2))
		}},
	}
}

// weightEdits are edits of the weights of a resource (P-95).
func weightEdits() []edit {
	const outOfRange, class = "policy.ErrOutOfRange", "ident.ErrClass"
	weights := func(slug, about, req, outcome, preset string, of ...any) edit {
		m := dict()
		for i := 0; i < len(of); i += 2 {
			m.Items = append(m.Items, text(of[i].(string)), uintOf(uint64(of[i+1].(int))))
		}
		r := resource(resourceName)
		r.Items[2], r.Items[8] = text(preset), m
		if outcome == vector.Valid {
			return good(slug, about, req, r, 3, 0)
		}
		return bad(slug, about, req, outcome, r, 3, 0)
	}
	var many []any
	for i := range 17 {
		many = append(many, fmt.Sprintf("c%02d", i), 2)
	}
	return []edit{
		weights("weights", "weights of two classes", "P-95", vector.Valid, "fair", "web", 2, "backup", 5),
		weights("weights-bounds", "the least and the greatest weight, and the longest class", "P-95", vector.Valid, "fair", "web", 1, strings.Repeat("z", 16), 100),
		weights("weights-16", "weights of 16 classes", "P-95", vector.Valid, "fair", many[:32]...),
		weights("weights-17", "weights of 17 classes", "P-95", outOfRange, "fair", many...),
		weights("weight-0", "a weight of 0", "P-95", outOfRange, "fair", "web", 0),
		weights("weight-101", "a weight of 101", "P-95", outOfRange, "fair", "web", 101),
		weights("weights-class-17", "a class of 17 characters", "P-95", class, "fair", strings.Repeat("z", 17), 2),
		weights("weights-class-empty", "the class of members that have none", "P-95", class, "fair", "", 2),
		weights("weights-class-capital", "a class with a capital letter", "P-95", class, "fair", "Web", 2),
		weights("weights-light", "weights under a preset without turns", "P-96", "policy.ErrUnused", "light", "web", 2),
	}
}

// gateEdits are edits of the gate of a resource.
func gateEdits() []edit {
	const refused, outOfRange, malformed = "group.ErrGate", "group.ErrOutOfRange", "group.ErrMalformed"
	resource := func(gate item, place int, to item) item {
		r := gated(resourceName, gate)
		if place >= 0 {
			r.Items[place] = to
		}
		return r
	}
	gate := func(slug, about, req, outcome string, gate item, change ...item) edit {
		r := resource(gate, -1, item{})
		if len(change) == 2 {
			r = resource(gate, int(change[0].Arg), change[1])
		}
		if outcome == vector.Valid {
			return good(slug, about, req, r, 3, 0)
		}
		return bad(slug, about, req, outcome, r, 3, 0)
	}
	with := func(place int, to item) item { return with(gateOf(usualGate...), to, place) }
	plus := func(pairs ...uint64) item {
		return gateOf(append(append([]uint64(nil), pairs...), usualGate...)...)
	}
	return []edit{
		gate("gate", "a gate", "O-30", vector.Valid, gateOf(usualGate...)),
		gate("gate-all", "a gate with all constants, observed", "O-30", vector.Valid, with(3, gateOf(1, 30000, 2, 1000, 3, 1, 4, 120000, 5, 2000, 6, 5000, 7, 10000).Items[3])),
		gate("gate-observe", "a gate that observes", "O-1", vector.Valid, with(2, uintOf(1))),
		gate("gate-nobody", "the gate of nobody", "G-3", malformed, with(0, bstr(make([]byte, 16)))),
		gate("gate-address", "an address without a port", "O-1", refused, with(1, text("gate"))),
		gate("gate-mode-2", "another mode, of a later version", "O-1", outOfRange, with(2, uintOf(2))),
		gate("gate-uncoordinated", "a gate before a resource of policy uncoordinated", "O-27", refused, gateOf(usualGate...), uintOf(1), text("uncoordinated")),
		gate("gate-slots-64", "a gate before 64 slots", "O-28", vector.Valid, gateOf(usualGate...), uintOf(3), uintOf(64)),
		gate("gate-slots-65", "a gate before 65 slots", "O-28", refused, gateOf(usualGate...), uintOf(3), uintOf(65)),
		gate("gate-sessions-2", "two sessions at a slot where one program runs", "O-29", refused, gateOf(2, 1000, 3, 2, 5, 2000, 6, 5000, 7, 10000)),
		gate("gate-places-66", "33 sessions at each of two slots", "O-35", refused, gateOf(2, 1000, 3, 33, 5, 2000, 6, 5000, 7, 10000), uintOf(3), uintOf(2)),
		gate("gate-constant-zero", "a constant with the value 0", "O-30", malformed, plus(1, 0)),
		gate("gate-constant-unknown", "a constant that nobody knows", "O-31", refused, gateOf(append(append([]uint64(nil), usualGate...), 99, 1)...)),
		gate("gate-settle-absent", "without settle", "O-1", outOfRange, gateOf(3, 1, 5, 2000, 6, 5000, 7, 10000)),
		gate("gate-settle-above", "settle of a millisecond more than ten minutes", "O-1", outOfRange, gateOf(2, 600001, 3, 1, 5, 2000, 6, 5000, 7, 10000)),
		gate("gate-age-below", "gate_revocation_max_age of a millisecond less than two minutes", "O-1", outOfRange, gateOf(2, 1000, 3, 1, 4, 119999, 5, 2000, 6, 5000, 7, 10000)),
		gate("gate-null", "null in place of a gate", "C-4", malformed, null),
		edit{fault{slug: "gate-twice", about: "two gates", req: "C-4", outcome: malformed}, func(p *item) {
			r := resource(gateOf(usualGate...), -1, item{})
			r.Items = append(r.Items, gateOf(usualGate...))
			p.Items[3] = array(r)
		}},
	}
}

// constantEdits put each constant of the group just outside of its range, and
// on its bounds.
func constantEdits() (list []edit) {
	for n, c := range []struct {
		name      string
		low, high uint64
	}{
		{"members-max", 1, 1 << 20},
		{"update-capacity", 1, 32},
		{"failure-quorum", 2, 16},
		{"certificate-lifetime", 60000, 315360000000},
		{"clock-allowance", 1000, 2592000000},
		{"settlement-time", 3600000, 315360000000},
		{"gossip-interval", 100, 3600000},
		{"silence", 1000, 600000},
	} {
		list = append(list,
			good(c.name+"-least", c.name+" at its least", "O-1", uintOf(c.low), 4, n),
			good(c.name+"-most", c.name+" at its most", "O-1", uintOf(c.high), 4, n),
			bad(c.name+"-below", c.name+" below its range", "O-1", "group.ErrOutOfRange", uintOf(c.low-1), 4, n),
			bad(c.name+"-above", c.name+" above its range", "O-1", "group.ErrOutOfRange", uintOf(c.high+1), 4, n),
			bad(c.name+"-huge", c.name+" of 2^64-1", "O-1", "group.ErrOutOfRange", uintOf(1<<64-1), 4, n).harmful(),
		)
	}
	return append(list,
		good("renew-grace-most", "renew-grace at its most, which is certificate-lifetime", "O-1", uintOf(7776000000), 4, 8),
		bad("renew-grace-above", "renew-grace above certificate-lifetime", "O-1", "group.ErrOutOfRange", uintOf(7776000001), 4, 8),
		bad("renew-grace-huge", "renew-grace of 2^64-1", "O-1", "group.ErrOutOfRange", uintOf(1<<64-1), 4, 8).harmful(),
	)
}

// manyResources have names so long that a thousand need a payload's largest head.
func manyResources(n int) (list []item) {
	for i := range n {
		list = append(list, resource(fmt.Sprintf("%04d-%s", i, strings.Repeat("r", 40))))
	}
	return list
}
