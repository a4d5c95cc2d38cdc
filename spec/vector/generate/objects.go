package main

import (
	"strings"
)

// objects are all signed objects with what can be wrong with their fields.
func objects() []*object {
	return []*object{
		authorityObject(), configurationObject(), certificateObject(), revocationObject(), endpointObject(),
		leaveObject(), failureObject(), requestObject(), genesisObject(), transferObject(),
		answerObject("receipt"), answerObject("void"), answerObject("unknown"), complaintObject(), statementObject(), gateAnswerObject(),
	}
}

// byAuthority is an object that a CA key signs.
func byAuthority(name, malformed string, payload item, extensions int) *object {
	return &object{
		name: name, kind: name, payload: payload, by: firstCA, malformed: malformed, signature: "certificate.ErrSignature",
		unknownSigner: "certificate.ErrUnknownCA", wrongKeyID: "certificate.ErrSignature", extensions: []int{extensions},
	}
}

// aboutMember is an object of a member about members.
func aboutMember(name string, payload item, by *party, extensions int) *object {
	return &object{
		name: name, kind: name, payload: payload, by: by, malformed: "certificate.ErrMalformed", signature: "certificate.ErrSignature",
		unknownSigner: "directory.ErrUnknown", wrongKeyID: "certificate.ErrSigner", extensions: []int{extensions},
	}
}

// ofToken is an object of a token.
func ofToken(name string, payload item, by *party, extensions int) *object {
	return &object{
		name: name, kind: name, payload: payload, by: by, malformed: "token.ErrMalformed", signature: "token.ErrSignature",
		unknownSigner: "token.ErrSigner", wrongKeyID: "token.ErrSigner", extensions: []int{extensions},
	}
}

// bad is an edit that refuses the object.
func bad(slug, about, req, outcome string, value item, path ...int) edit {
	return edit{fault{slug: slug, about: about, req: req, outcome: outcome}, func(p *item) { *at(p, path...) = value }}
}

// good is an edit that is still accepted.
func good(slug, about, req string, value item, path ...int) edit {
	return edit{ok(slug, about, req), func(p *item) { *at(p, path...) = value }}
}

// because names the cause of an edit.
func (e edit) because(cause string) edit {
	e.cause = cause
	return e
}

// harmful marks an edit as malicious.
func (e edit) harmful() edit {
	e.fault = e.malicious()
	return e
}

const lastSecond = 253402300799 // of the year 9999

// badKeys are keys that nobody may have.
func badKeys(outcome string, path ...int) []edit {
	return []edit{
		bad("key-small-order", "a key of small order", "S-1", outcome, bstr(hexBytes(smallOrder[orderEight])), path...).because("signature.ErrSmallOrder").harmful(),
		bad("key-identity", "the identity as key", "S-1", outcome, bstr(hexBytes(smallOrder[0])), path...).because("signature.ErrSmallOrder").harmful(),
		bad("key-not-canonical", "a key that is not encoded canonically", "S-1", outcome, bstr(hexBytes(notCanonical[0])), path...).because("signature.ErrKeyEncoding").harmful(),
		bad("key-no-point", "a key that is no point", "S-1", outcome, bstr(append([]byte{2}, make([]byte, 31)...)), path...).because("signature.ErrKeyEncoding"),
	}
}

func authorityObject() *object {
	o := byAuthority("authority", "group.ErrMalformed", authorityPayload(secondCA), 6)
	o.wrongKeyID = "group.ErrGroup" // it is the key that the statement is about: only the first proves itself
	o.edits = append(groupNames("name", "O-1", 0), badKeys("group.ErrKey", 2)...)
	const validity, version = "group.ErrValidity", "group.ErrVersion"
	o.edits = append(o.edits,
		edit{ok("first", "the statement about the first key, which proves itself", "O-3"), func(p *item) { *p = authorityPayload(firstCA) }},
		good("until-9999", "valid until the last second of 9999", "O-1", uintOf(lastSecond), 4),
		bad("after-9999", "valid until the year 10000", "O-1", validity, uintOf(lastSecond+1), 4),
		bad("never-valid", "it ends when it begins", "O-1", validity, uintOf(noonSeconds), 4),
		bad("version-0", "version 0 for a key that is not the first", "O-1", version, uintOf(0), 5),
		bad("other-group", "about another group", "O-3", "group.ErrGroup", bstr(otherGroup), 1),
		edit{
			fault{slug: "first-version", about: "a version for the first key", req: "O-1", outcome: version},
			func(p *item) { *p = with(authorityPayload(firstCA), uintOf(1), 5) },
		},
	)
	return o
}

// manyIDs is first and others up to n ids.
func manyIDs(first []byte, n int) []item {
	list := []item{bstr(first)}
	for i := 1; i < n; i++ {
		list = append(list, bstr(repeat(byte(i), 16)))
	}
	return list
}

// memberNames are edits of a member's name.
func memberNames(path ...int) []edit {
	const no = "certificate.ErrName"
	return []edit{
		good("name-64", "a name of 64 characters", "O-1", text(strings.Repeat("a", 64)), path...),
		bad("name-65", "a name of 65 characters", "O-1", no, text(strings.Repeat("a", 65)), path...),
		bad("name-empty", "an empty name", "O-1", no, text(""), path...),
		bad("name-upper", "a name with a capital", "O-1", no, text("FTP"), path...),
		bad("name-hyphen", "a name that ends with a hyphen", "O-1", no, text("ftp-"), path...),
		bad("name-underscore", "a name with an underscore", "O-1", no, text("ftp_01"), path...),
		bad("name-escape", "a name with a terminal's escape sequence", "O-1", no, text("\x1b[2Jftp"), path...).harmful(),
		bad("name-slash", "a name that leads out of a folder", "O-1", no, text("../../etc/passwd"), path...).harmful(),
	}
}

// Where the values of the certificate's claims are.
const (
	claimName      = 1
	claimNotAfter  = 3
	claimNotBefore = 5
	claimIssued    = 7
	claimSerial    = 9
	claimKey       = 11
	claimGroup     = 13
)

func certificateObject() *object {
	const malformed, validity, key = "certificate.ErrMalformed", "certificate.ErrValidity", "certificate.ErrKey"
	o := byAuthority("certificate", malformed, certificatePayload(ada), 0)
	o.extensions = nil // of another form: below
	keyPath := []int{claimKey, 1, 5}
	o.edits = append(memberNames(claimName), badKeys(key, keyPath...)...)
	withExtensions := func(m item) func(p *item) {
		return func(p *item) { p.Items = append(p.Items, negative(70004), m) }
	}
	role := func(n uint64) func(p *item) {
		return func(p *item) { *p = withRole(*p, uintOf(n)) }
	}
	class := func(m item) func(p *item) {
		return func(p *item) { *p = withClass(*p, m) }
	}
	drop := func(n int) func(p *item) {
		return func(p *item) { p.Items = append(p.Items[:n:n], p.Items[n+2:]...) }
	}
	o.edits = append(o.edits,
		edit{ok("extension-odd", "an unknown odd extension is kept and ignored", "C-5"), withExtensions(dict(uintOf(7), text("x")))},
		edit{fault{slug: "extension-even", about: "an unknown even extension", req: "C-5", outcome: malformed, cause: "canonical.ErrExtension"}, withExtensions(dict(uintOf(2), uintOf(0)))},
		edit{fault{slug: "extension-none", about: "an empty map of extensions", req: "C-5", outcome: malformed}, withExtensions(dict())},
		edit{fault{slug: "claim-unknown", about: "a claim that is not known", req: "C-4", outcome: malformed}, func(p *item) { p.Items = append(p.Items, negative(70007), uintOf(0)) }},
		edit{fault{slug: "role-gate", about: "the certificate of a gate", req: "O-24", outcome: "certificate.ErrRole"}, role(1)}.harmful(),
		edit{fault{slug: "role-unknown", about: "a role that is not known", req: "O-23", outcome: "certificate.ErrRole"}, role(2)},
		edit{fault{slug: "role-member", about: "the role of a member, written out", req: "C-4", outcome: malformed}, role(0)},
		edit{ok("class", "a member of a class", "P-95"), class(text("backup"))},
		edit{ok("class-16", "a class of 16 characters", "P-95"), class(text(strings.Repeat("z", 16)))},
		edit{fault{slug: "class-17", about: "a class of 17 characters", req: "P-95", outcome: "ident.ErrClass"}, class(text(strings.Repeat("z", 17)))},
		edit{fault{slug: "class-capital", about: "a class with a capital letter", req: "P-95", outcome: "ident.ErrClass"}, class(text("Backup"))},
		edit{fault{slug: "class-empty", about: "the class of members that have none, written out", req: "C-4", outcome: malformed}, class(text(""))},
		edit{fault{slug: "class-number", about: "a number in place of a class", req: "C-4", outcome: malformed}, class(uintOf(5))},
		edit{fault{slug: "claim-unsorted", about: "claims in another order", req: "C-1", outcome: malformed, cause: "canonical.ErrUnsorted"}, func(p *item) {
			p.Items[0], p.Items[1], p.Items[2], p.Items[3] = p.Items[2], p.Items[3], p.Items[0], p.Items[1]
		}},
		edit{fault{slug: "claim-twice", about: "the name twice", req: "C-2", outcome: malformed, cause: "canonical.ErrUnsorted"}, func(p *item) {
			p.Items = append([]item{p.Items[0], p.Items[1]}, p.Items...)
		}},
		edit{fault{slug: "no-serial", about: "without a serial number", req: "C-4", outcome: malformed}, drop(claimSerial - 1)},
		edit{fault{slug: "no-key", about: "without a key", req: "C-4", outcome: malformed}, drop(claimKey - 1)},
		edit{fault{slug: "no-group", about: "without a group", req: "C-4", outcome: malformed}, drop(claimGroup - 1)},
		good("until-9999", "valid until the last second of 9999", "O-1", uintOf(lastSecond), claimNotAfter),
		bad("after-9999", "valid until the year 10000", "O-1", validity, uintOf(lastSecond+1), claimNotAfter),
		bad("never-valid", "it ends when it begins", "O-1", validity, uintOf(noonSeconds), claimNotAfter),
		bad("begins-10000", "valid from the year 10000 on", "O-1", validity, uintOf(lastSecond+1), claimNotBefore),
		bad("issued-10000", "issued in the year 10000", "O-1", validity, uintOf(lastSecond+1), claimIssued),
		bad("serial-0", "the serial number 0", "O-1", "certificate.ErrSerial", bstr(make([]byte, 8)), claimSerial),
		bad("serial-7", "a serial number of 7 bytes", "C-4", malformed, bstr(repeat(1, 7)), claimSerial),
		bad("other-group", "of another group", "O-1", "certificate.ErrGroup", bstr(otherGroup), claimGroup),
		bad("key-type", "a key of another type", "O-1", key, uintOf(2), claimKey, 1, 1),
		bad("key-curve", "a key on another curve", "O-1", key, uintOf(4), claimKey, 1, 3),
		bad("key-31", "a key of 31 bytes", "C-4", malformed, bstr(repeat(1, 31)), keyPath...),
	)
	return o
}

// gateCertificates are certificates read as those of gates.
func (s *suite) gateCertificates() {
	put := func(f fault, payload item, by *party) {
		e := sign(payload, "certificate", by)
		v := s.vector("gate-certificate", "signed-certificate", f, e.raw)
		v.Signed, v.Diagnostic = e.explained(), diagnostic(e.payload)
		s.add("certificate.json", v)
	}
	harm := func(slug, about, req, outcome string, payload item, by *party) {
		put(fault{slug: slug, about: about, req: req, outcome: outcome}.malicious(), payload, by)
	}
	put(ok("good", "of a gate", "O-25"), gatePayload(ada), firstCA)
	harm("member", "of a member", "O-25", "certificate.ErrRole", certificatePayload(ada), firstCA)
	harm("unknown", "of a role that is not known", "O-23", "certificate.ErrRole", withRole(certificatePayload(ada), uintOf(2)), firstCA)
	harm("other-ca", "by a CA that is not known", "E-2", "certificate.ErrUnknownCA", gatePayload(ada), unknownCA)
}

func revocationObject() *object {
	const malformed, reason = "certificate.ErrMalformed", "certificate.ErrReason"
	o := byAuthority("revocation", malformed, revocationPayload(), 5)
	o.edits = []edit{
		good("no-reason", "without a reason", "O-1", text(""), 3),
		good("no-serial", "without a serial number", "O-1", uintOf(0), 2),
		good("reason-128", "a reason of 128 bytes", "O-1", text(strings.Repeat("r", 128)), 3),
		bad("reason-129", "a reason of 129 bytes", "O-1", reason, text(strings.Repeat("r", 129)), 3),
		bad("reason-escape", "a reason with a terminal's escape sequence", "O-1", reason, text("\x1b[2Jgone"), 3).harmful(),
		bad("reason-direction", "a reason that turns the direction of reading", "O-1", reason, text("gone \u202etoor"), 3).harmful(),
		bad("reason-unseen", "a reason with a character that nobody sees", "O-1", reason, text("gone\U000e0041"), 3).harmful(),
		good("reason-other-script", "a reason in another script", "O-1", text("Zürich: 失窃"), 3),
		good("reason-unassigned", "a reason with a character that Unicode 15 does not know", "O-1", text("gone \u0378"), 3),
		bad("reason-line", "a reason of two lines", "O-1", reason, text("gone\nroot"), 3).harmful(),
		bad("version-0", "version 0", "O-1", "certificate.ErrVersion", uintOf(0), 0),
		bad("nobody", "of nobody", "G-3", malformed, bstr(make([]byte, 16)), 1),
	}
	return o
}

func endpointObject() *object {
	const mode, badAddress = "certificate.ErrMode", "certificate.ErrAddress"
	o := aboutMember("endpoint", endpointPayload(ada), ada, 6)
	addresses := func(list ...string) item {
		a := array()
		for _, x := range list {
			a.Items = append(a.Items, text(x))
		}
		return a
	}
	nine := strings.Split(strings.Repeat("a.example.org:1 ", 9), " ")[:9]
	o.edits = []edit{
		good("addresses-8", "eight addresses", "O-1", addresses(nine[:8]...), 3),
		bad("addresses-9", "nine addresses", "O-1", "certificate.ErrTooMany", addresses(nine...), 3),
		bad("addresses-0", "reachable without an address", "O-1", mode, addresses(), 3),
		bad("mode-0", "mode 0", "O-1", mode, uintOf(0), 2),
		bad("mode-3", "mode 3", "O-1", mode, uintOf(3), 2),
		bad("mode-2-address", "dials out only, with an address", "O-1", mode, uintOf(2), 2),
		bad("mode-1-attached", "reachable, and attached", "O-1", mode, array(bstr(ben.id)), 4),
		good("address-261", "an address of 261 bytes", "O-1", addresses(strings.Repeat("h", 255)+":65535"), 3),
		bad("address-host-256", "a host of 256 bytes", "O-1", badAddress, addresses(strings.Repeat("h", 256)+":1"), 3),
		bad("address-port-0", "port 0", "O-1", badAddress, addresses("a.example.org:0"), 3),
		bad("address-port-65536", "port 65536", "O-1", badAddress, addresses("a.example.org:65536"), 3),
		bad("address-port-01", "a port with a leading zero", "O-1", badAddress, addresses("a.example.org:01"), 3),
		bad("address-no-port", "no port", "O-1", badAddress, addresses("a.example.org"), 3),
		bad("address-no-host", "no host", "O-1", badAddress, addresses(":4133"), 3),
		bad("address-zone", "an IPv6 address with a zone", "O-1", badAddress, addresses("[fe80::1%eth0]:1"), 3),
		bad("address-space", "a host with a space", "O-1", badAddress, addresses("a b:1"), 3),
		edit{ok("dials-out", "dials out only, attached to two", "O-1"), dialsOut(bstr(ben.id), bstr(cleo.id))},
		edit{ok("attached-8", "attached to eight", "O-1"), dialsOut(manyIDs(ben.id, 8)...)},
		edit{fault{slug: "attached-9", about: "attached to nine", req: "O-1", outcome: "certificate.ErrTooMany"}, dialsOut(manyIDs(ben.id, 9)...)},
		edit{fault{slug: "attached-self", about: "attached to itself", req: "O-1", outcome: "certificate.ErrAttached"}, dialsOut(bstr(ada.id))},
		edit{fault{slug: "attached-twice", about: "attached twice to one", req: "O-1", outcome: "certificate.ErrAttached"}, dialsOut(bstr(ben.id), bstr(ben.id))},
		edit{fault{slug: "attached-nobody", about: "attached to nobody", req: "G-3", outcome: "certificate.ErrAttached"}, dialsOut(bstr(make([]byte, 16)))},
		bad("of-another", "about another member than the signer", "E-2", "certificate.ErrSigner", bstr(ben.id), 0).harmful(),
		edit{
			fault{slug: "too-large", about: "a payload of more than 3968 bytes, each part of it permitted", req: "C-3", outcome: "certificate.ErrMalformed", cause: "canonical.ErrTooLarge"},
			func(p *item) {
				p.Items[3], p.Items[6] = array(), dict()
				for n := range uint64(8) {
					p.Items[3].Items = append(p.Items[3].Items, text(strings.Repeat("h", 255)+":65535"))
					p.Items[6].Items = append(p.Items[6].Items, uintOf(2*n+1), bstr(repeat(0, 253)))
				}
			},
		},
	}
	return o
}

// dialsOut makes an endpoint record one of mode 2.
func dialsOut(attached ...item) func(p *item) {
	return func(p *item) { p.Items[2], p.Items[3], p.Items[4] = uintOf(2), array(), array(attached...) }
}

func leaveObject() *object {
	o := aboutMember("leave", leavePayload(ada), ada, 2)
	o.edits = []edit{bad("of-another", "about another member than the signer", "E-2", "certificate.ErrSigner", bstr(ben.id), 0).harmful()}
	return o
}

func failureObject() *object {
	o := aboutMember("failure", failurePayload(ada, ben), ada, 4)
	o.edits = []edit{
		bad("nobody", "about nobody", "O-1", "certificate.ErrMalformed", bstr(make([]byte, 16)), 1),
		bad("self", "about the witness", "O-1", "certificate.ErrSelf", bstr(ada.id), 1),
		bad("of-another", "of another witness than the signer", "E-2", "certificate.ErrSigner", bstr(cleo.id), 0).harmful(),
	}
	return o
}

func requestObject() *object {
	o := aboutMember("request", requestPayload(ada), ada, 4)
	o.unknownSigner = "certificate.ErrSigner" // its key is in it, so nobody has to know it
	o.edits = append(memberNames(0), badKeys("certificate.ErrKey", 1)...)
	o.edits = append(o.edits, bad("of-another", "about another key than the signer's", "E-2", "certificate.ErrSigner", bstr(ben.public), 1).harmful())
	return o
}

func genesisObject() *object {
	const malformed = "token.ErrMalformed"
	o := ofToken("genesis", genesisPayload(ada), ada, 7)
	o.edits = []edit{
		good("resource-64", "a resource name of 64 bytes", "O-1", text(strings.Repeat("r", 64)), 0),
		bad("resource-65", "a resource name of 65 bytes", "O-1", malformed, text(strings.Repeat("r", 65)), 0),
		bad("resource-empty", "no resource", "O-1", malformed, text(""), 0),
		good("largest-numbers", "the largest sequence number", "O-1", uintOf(1<<64-1), 4),
		bad("of-another", "another generator than the signer", "E-2", "token.ErrSigner", bstr(ben.id), 2).harmful(),
	}
	return o
}

func transferObject() *object {
	const malformed = "token.ErrMalformed"
	o := ofToken("transfer", theWalk.thirdHop.payload(), ben, 11)
	o.free, o.optional = map[int]bool{10: true}, map[int]bool{8: true}
	o.edits = []edit{
		good("no-void", "without a void", "O-1", null, 8),
		good("field-512", "a policy field of 512 bytes", "O-1", bstr(repeat(0xf0, 512)), 10),
		bad("field-513", "a policy field of 513 bytes", "O-1", "token.ErrField", bstr(repeat(0xf0, 513)), 10),
		good("last-operation", "it says when the operation last ran", "P-4", dict(uintOf(1), uintOf(noonMillis)), 11),
		good("last-operation-text", "the extension of the last operation says no time: ignored", "P-4", dict(uintOf(1), text("never")), 11),
		good("position", "it names its position in the journal", "H-70", dict(uintOf(3), array(uintOf(noonMillis), bstr(repeat(7, 8)), uintOf(12))), 11),
		good("position-text", "the extension of the position is none: ignored", "H-70", dict(uintOf(3), text("here")), 11),
		good("hop-most", "the highest hop", "O-1", uintOf(1<<48), 1),
		bad("hop-above", "a hop above the highest one", "O-1", malformed, uintOf(1<<48+1), 1),
		bad("mac-15", "a MAC of 15 bytes", "O-1", malformed, bstr(repeat(1, 15)), 6),
		bad("hop-0", "hop 0", "O-1", malformed, uintOf(0), 1),
		bad("to-self", "to oneself", "O-1", malformed, bstr(ben.id), 3),
		bad("of-another", "from another member than the signer", "E-2", "token.ErrSigner", bstr(cleo.id), 2).harmful(),
	}
	return o
}

func answerObject(kind string) *object {
	o := ofToken(kind, answerPayload(theWalk.first, theWalk.firstHop, ben, incarnation), ben, 5)
	o.edits = []edit{
		bad("hop-0", "hop 0", "O-1", "token.ErrMalformed", uintOf(0), 2),
		bad("hop-above", "a hop above the highest one", "O-1", "token.ErrMalformed", uintOf(1<<48+1), 2),
		bad("of-another", "another signer than it names", "E-2", "token.ErrSigner", bstr(cleo.id), 3).harmful(),
	}
	return o
}

func complaintObject() *object {
	const malformed = "token.ErrMalformed"
	o := ofToken("complaint", complaintPayload(ada, ben), ada, 9)
	o.edits = []edit{
		good("resource-64", "a resource name of 64 bytes", "O-1", text(strings.Repeat("r", 64)), 0),
		bad("resource-65", "a resource name of 65 bytes", "O-1", malformed, text(strings.Repeat("r", 65)), 0),
		bad("resource-empty", "no resource", "O-1", malformed, text(""), 0),
		bad("of-another", "another signer than the envelope's", "E-2", "token.ErrSigner", bstr(cleo.id), 2).harmful(),
		bad("nobody", "about nobody", "O-1", malformed, bstr(make([]byte, 16)), 3),
		bad("self", "about its signer", "O-1", malformed, bstr(ada.id), 3).harmful(),
		good("hop-0", "about the generator's custody", "O-1", uintOf(0), 5),
		good("hop-most", "about the highest hop", "O-1", uintOf(1<<48), 5),
		bad("hop-above", "about a hop above the highest one", "O-1", malformed, uintOf(1<<48+1), 5),
		good("measure-most", "the last measure", "O-1", uintOf(4), 6),
		bad("measure-0", "no measure", "O-1", malformed, uintOf(0), 6),
		bad("measure-above", "a measure that there is not", "O-1", malformed, uintOf(5), 6),
		good("span", "it says for how long its signer acts", "P-84", dict(uintOf(1), uintOf(3_600_000)), 9),
		good("span-text", "the extension of the span says none: ignored", "P-84", dict(uintOf(1), text("long")), 9),
		good("cause-most", "the last cause", "O-1", uintOf(9), 7),
		bad("cause-0", "no cause", "O-1", malformed, uintOf(0), 7),
		bad("cause-above", "a cause that there is not", "O-1", malformed, uintOf(10), 7),
	}
	return o
}
