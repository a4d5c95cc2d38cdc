package main

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

const invitesFile = "invites.json"

// inviteText is the text of any content, with a sum that holds.
func inviteText(content []byte) []byte {
	sum := sha256.Sum256(content)
	raw := append(append([]byte{}, content...), sum[:4]...)
	return []byte("wander1-" + base64.RawURLEncoding.EncodeToString(raw))
}

// inviteVectors are invites as text, in ASCII.
func (s *suite) inviteVectors() {
	s.open(invitesFile, "Invites: enrolment.md, chapter 1. The input is the text, in ASCII; the diagnostic notation shows what is in it.")
	const malformed, mangled = "invite.ErrMalformed", "invite.ErrMangled"
	content := array(bstr(groupID), bstr(firstCA.id), array(text("ca.example.org:4134"), text("[2001:db8::1]:4134")),
		bstr(repeat(3, 8)), bstr(repeat(4, 16)), uintOf(noonSeconds), text("ftp-03"))
	addresses := func(n int) item { return times(n, text("a:1")) }
	s.unsigned(invitesFile, unsigned{
		object: "invite", item: content, req: "N-1", outcome: malformed, depth: 1, shaped: [][]int{nil}, wrap: inviteText,
	},
		good("addresses-4", "four addresses", "N-1", addresses(4), 2),
		bad("addresses-0", "no address", "N-1", malformed, addresses(0), 2),
		bad("addresses-5", "five addresses", "N-1", malformed, addresses(5), 2),
		bad("address-port", "an address without a port", "N-1", malformed, array(text("a")), 2).because("certificate.ErrAddress"),
		bad("name", "a name that no member can have", "N-1", malformed, text("FTP 03"), 6).because("certificate.ErrName"),
		bad("after-9999", "it ends after the year 9999", "N-1", malformed, uintOf(lastSecond+1), 5),
		good("until-9999", "it ends in the last second of 9999", "N-1", uintOf(lastSecond), 5),
	)
	honest := string(inviteText(encode(content)))
	put := func(f fault, line string) {
		f.slug = "text-" + f.slug
		s.add(invitesFile, s.vector("invite", "", f, []byte(line)))
	}
	no := func(slug, about, req, outcome, line string) {
		put(fault{slug: slug, about: about, req: req, outcome: outcome}, line)
	}
	put(ok("wrapped", "wrapped and indented by a terminal", "N-1"), "  "+honest[:80]+"\r\n\t"+honest[80:]+"\n")
	no("empty", "nothing", "N-1", "invite.ErrNotInvite", "")
	no("other", "something else", "N-1", "invite.ErrNotInvite", "ssh-ed25519 AAAA")
	no("no-digit", "without the version", "N-2", "invite.ErrNotInvite", "wander-"+honest[8:])
	no("version-2", "of version 2", "N-2", "invite.ErrVersion", "wander2-"+honest[8:])
	no("version-10", "of version 10", "N-2", "invite.ErrVersion", "wander10-"+honest[8:])
	no("prefix-only", "nothing behind the prefix", "N-1", mangled, "wander1-")
	no("lost", "a character is missing", "N-1", mangled, honest[:50]+honest[51:])
	no("cut", "the end is missing", "N-1", mangled, honest[:len(honest)-3])
	no("doubled", "a character is there twice", "N-1", mangled, honest[:50]+honest[49:])
	no("padded", "base64 with padding", "N-1", mangled, honest+"=")
	no("standard", "a character of the other base64", "N-1", mangled, honest[:50]+"+"+honest[51:])
	put(fault{slug: "long", about: "more than 4096 characters", req: "N-1", outcome: "invite.ErrTooLong"}.malicious(), honest+strings.Repeat(" ", 4096))
}

const enrolmentFile = "enrolment.json"

// enrolmentVectors are the bodies of the requests and answers of the enrolment
// service.
func (s *suite) enrolmentVectors() {
	s.open(enrolmentFile, "What machines and the authority say to each other: enrolment.md.")
	const malformed, req = "enrolment.ErrMalformed", "N-15"
	limits := func(what string, needed bool, path ...int) []edit {
		list := []edit{
			good(what+"-4096", what+" of 4096 bytes", req, largest, path...),
			bad(what+"-4097", what+" of 4097 bytes", req, malformed, tooMuch, path...),
		}
		if needed {
			return append(list, bad(what+"-empty", "without "+what, req, malformed, bstr(nil), path...))
		}
		return append(list, good(what+"-empty", "without "+what, req, bstr(nil), path...))
	}
	counted := func(what string, least, most int, one item, path ...int) []edit {
		list := []edit{
			good(what+"-most", "as many of "+what+" as may be", req, times(most, one), path...),
			bad(what+"-too-many", "one too many of "+what, req, malformed, times(most+1, one), path...),
		}
		if least > 0 {
			list = append(list, bad(what+"-none", "none of "+what, req, malformed, array(), path...))
		}
		return list
	}
	publication := array(array(one), one, array(one), array(one), boolean(true))
	peer := array(one, one)
	ofPublication := func(at int) []edit {
		return concat(counted("authorities", 1, 8, one, 1, at, 0), counted("leaves", 0, 64, one, 1, at, 3),
			counted("revocations", 0, 4096, one, 1, at, 2), []edit{
				good("configuration-largest", "a configuration of 262240 bytes", req, bstr(make([]byte, 262240)), 1, at, 1),
				bad("configuration-too-large", "a configuration of 262241 bytes", req, malformed, bstr(make([]byte, 262241)), 1, at, 1),
			})
	}
	for _, m := range []struct {
		name   string
		body   item
		free   map[int]bool
		shaped [][]int
		edits  []edit
	}{
		{"enrol-request", array(bstr(repeat(1, 8)), bstr(repeat(2, 16)), one), fields(2), nil, limits("request", true, 1, 2)},
		{"enrol-answer", array(one, publication, array(peer), uintOf(7)), fields(0), [][]int{{1, 1}, {1, 2, 0}}, concat(
			limits("certificate", true, 1, 0), ofPublication(1), counted("peers", 0, 8, peer, 1, 2),
			[]edit{bad("no-configuration", "without a configuration", req, malformed, bstr(nil), 1, 1, 1)})},
		{"renew-answer", array(one, array(one)), fields(0), nil, concat(limits("certificate", true, 1, 0), counted("authorities", 1, 8, one, 1, 1))},
		{"sync-request", array(uintOf(3), uintOf(9), one, array(one)), fields(2), nil, concat(limits("endpoint", false, 1, 2), counted("leaves", 0, 64, one, 1, 3))},
		{"sync-answer", array(publication, array(peer)), nil, [][]int{{1, 0}}, concat(ofPublication(0), counted("peers", 0, 8, peer, 1, 1),
			[]edit{good("no-configuration", "no newer configuration", req, bstr(nil), 1, 0, 1)})},
		{"leave-request", array(one), fields(0), nil, limits("leave", true, 1, 0)},
		{"evidence-request", array(one), fields(0), nil, []edit{
			good("largest", "evidence of 32768 bytes", req, bstr(make([]byte, 32768)), 1, 0),
			bad("too-large", "evidence of 32769 bytes", req, malformed, bstr(make([]byte, 32769)), 1, 0),
			bad("empty", "no evidence", req, malformed, bstr(nil), 1, 0),
		}},
		{"refusal", array(uintOf(2), one), fields(1), nil, limits("object", false, 1, 1)},
	} {
		s.unsigned(enrolmentFile, unsigned{
			object: m.name, rule: "enrolment:travelling-" + m.name, item: array(uintOf(1), m.body), req: req, outcome: malformed,
			depth: 2, shaped: [][]int{{1}}, free: m.free,
		}, append(m.edits,
			bad("version-2", "of version 2", req, "enrolment.ErrVersion", uintOf(2), 0),
			bad("version-0", "of version 0", req, "enrolment.ErrVersion", uintOf(0), 0))...)
	}
}
