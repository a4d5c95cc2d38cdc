package vector

import "fmt"

// Case is an object of which seeded cases are made.
type Case struct {
	Object string `json:"object"`
	// Kind is what it is signed as; empty for what nobody signs. Authority says
	// that the first CA key signs, otherwise the member of the case.
	Kind      string `json:"kind,omitempty"`
	Authority bool   `json:"authority,omitempty"`
	Form      Form   `json:"form"`
}

const (
	formSettled   = "maybe array bytes 16 number end"
	formShown     = "maybe array range 1 4 blob 1 64 end"
	formToken     = "bytes 32 range 1 65536"
	formConstants = "array range 1 1048576 range 1 32 range 2 16 range 60000 315360000000 range 1000 2592000000" +
		" range 3600000 315360000000 range 100 3600000 range 1000 600000 end"
	formResource = "array name 64 text wandering text paper range 1 1024 map is 1 range 1 1000 is 2 range 1 1000" +
		" is 3 range 1 3600000 end range 1 604800000 range 0 2 extensions end"
	formValidity = "range 1772366400 1772431935 range 1772431936 1772497471"
)

// Cases are all objects of which there are seeded cases, in the order of
// hashes.json.
func Cases() []Case {
	list := []Case{
		{"authority", "authority", true, "array name 64 group second-authority-key " + formValidity + " range 1 65536 extensions end"},
		{"configuration", "configuration", true, "array range 1 65536 name 64 range 0 253402300799999 list 1 1 " + formResource + " " +
			formConstants + " array first-authority end number extensions end"},
		{"certificate", "certificate", true, "map is 2 name 64 is 4 range 1772431936 1772497471 is 5 range 1772366400 1772431935" +
			" is 6 range 0 253402300799 is 7 bytes 8 is 8 map is 1 map is 1 is 1 minus 1 is 6 minus 2 key end end" +
			" minus 70001 group minus 70002 number minus 70003 number end"},
		{"revocation", "revocation", true, "array range 1 65536 bytes 16 number name 64 number extensions end"},
		{"endpoint", "endpoint", false, "array signer number is 1 list 1 8 address array end number extensions end"},
		{"leave", "leave", false, "array signer number extensions end"},
		{"failure", "failure", false, "array signer other number number extensions end"},
		{"request", "request", false, "array name 64 key number bytes 16 extensions end"},
		{"genesis", "genesis", false, "array name 64 number signer bytes 16 number number bytes 16 extensions end"},
		{"transfer", "transfer", false, "array " + formToken + " signer other bytes 16 number bytes 16 bytes 32 maybe bytes 32 number blob 0 512 extensions end"},
	}
	for _, kind := range []string{"receipt", "void", "unknown"} {
		list = append(list, Case{kind, kind, false, "array bytes 32 " + formToken + " signer bytes 16 extensions end"})
	}
	list = append(list, Case{"complaint", "complaint", false, "array name 64 number signer other bytes 32 range 0 65536 range 1 4 range 1 9 number extensions end"})
	list = append(list, messageCases()...)
	return append(append(list, updateCases()...), recordCases()...)
}

// namedForm is a form under a name.
type namedForm struct{ name, form string }

func messageCases() (list []Case) {
	const objects, updates = "list 0 4 blob 1 64", "list 0 32 blob 1 64"
	for n, m := range []namedForm{
		{"hello", "array is 1 range 1 65536 end bytes 16 number number number number number " + formSettled + " blob 0 64 number " + formShown},
		{"offer", formToken + " blob 1 64 list 1 4 bytes 16 " + objects + " " + formSettled},
		{"need", formToken + " list 1 4 bytes 16"},
		{"accept", formToken + " bytes 16 number bytes 16 number"},
		{"refuse", formToken + " range 1 65536 number"},
		{"cancel", formToken + " bytes 16 number"},
		{"transfer", "blob 1 64 blob 1 64 blob 0 64 blob 0 64 " + objects + " " + updates},
		{"receipt", "blob 1 64 " + updates},
		{"void", "blob 1 64"},
		{"unknown", "blob 1 64"},
		{"policy", "name 64 number name 64 number blob 0 512"},
		{"want", "range 1 4 hex 00000000000000000000000000000000 bytes 16 number"},
		{"members", "list 0 4 array blob 1 64 blob 0 64 blob 0 64 list 0 16 blob 1 64 end bytes 16 bool"},
		{"configuration", "blob 1 1024 list 0 8 blob 1 64 range 0 0 range 0 0"},
		{"revocations", "list 0 64 blob 1 64 bool"},
		{"gossip", "number number number bytes 16 bool"},
		{"summary", "hex 00000000000000000000000000000000 list 0 1 array bytes 16 number bytes 16 end"},
		{"probe", "bytes 16 number"},
		{"news", "list 1 32 blob 1 64"},
	} {
		form := Form(fmt.Sprintf("array is %d array %s end end", n+1, m.form))
		list = append(list, Case{Object: "message " + m.name, Form: form})
	}
	return list
}

func updateCases() (list []Case) {
	for n, u := range []namedForm{
		{"join", "blob 1 64 blob 0 64"}, {"leave", "blob 1 64 blob 1 64"}, {"failure", "blob 1 64 blob 1 64"}, {"revocation", "blob 1 64"},
	} {
		list = append(list, Case{Object: "update " + u.name, Form: Form(fmt.Sprintf("array is %d %s end", n+1, u.form))})
	}
	return list
}

func recordCases() (list []Case) {
	for n, r := range []namedForm{
		{"incarnation", "bytes 16 bytes 16 bool name 64"},
		{"counters", "number number"},
		{"floor", "bytes 16 number"},
		{"settled", "bytes 16 bytes 16 number"},
		{"generated", "blob 0 64 bool"},
		{"held", "blob 0 64 blob 0 64 blob 0 64"},
		{"sent", "blob 0 64"},
		{"closed", formToken + " blob 0 64"},
		{"reclaimed", formToken + " blob 0 64"},
		{"voided", "blob 0 64 blob 0 64"},
		{"dropped", formToken + " number"},
		{"taken", formToken + " bytes 32 bytes 16 number bool"},
		{"started", "bytes 16 " + formToken + " name 64 number number name 64 name 64"},
		{"ended", "bytes 16 bool number number number"},
		{"known", "number blob 0 64"},
		{"evidence", "name 64 bytes 16 list 0 4 blob 0 64"},
		{"founded", "name 64 number"},
		{"visited", "name 64 number bytes 32 number bytes 16 number bool"},
		{"opened", "number bytes 8 number"},
		{"complained", "blob 0 64"},
	} {
		list = append(list, Case{Object: "record " + r.name, Form: Form(fmt.Sprintf("array is %d number array %s end end", n+1, r.form))})
	}
	return list
}
