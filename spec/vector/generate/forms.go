package main

import (
	"slices"

	"github.com/wandertoken/wander/spec/form"
	"github.com/wandertoken/wander/spec/vector"
)

const (
	formToken     = "bytes 32 range 1 65536"
	formConstants = "array range 1 1048576 range 1 32 range 2 16 range 60000 315360000000 range 1000 2592000000" +
		" range 3600000 315360000000 range 100 3600000 range 1000 600000 range 0 60000 end"
	formResource = "array name 64 text wandering text fair range 1 1024 map is 1 range 1 1000 is 2 range 1 1000" +
		" is 3 range 1 3600000 end range 1 604800000 range 0 2" +
		" list 0 2 array range 1 127 range 0 1439 range 0 1439 text CET-1CEST,M3.5.0,M10.5.0/3 name 64 end" +
		" map text backup range 1 100 end extensions end"
	formValidity = "range 1772366400 1772431935 range 1772431936 1772497471"
)

// signedForm is the form of a payload. authority says that the first CA key signs it,
// otherwise the member of the case.
type signedForm struct {
	kind      string
	authority bool
	form      form.Form
}

// seeded are all objects of which there are seeded cases, in the order of
// hashes.json.
func seeded() (list []vector.Case) {
	signed := []signedForm{
		{"authority", true, "array name 64 group second-authority-key " + formValidity + " range 1 65536 extensions end"},
		{"configuration", true, "array range 1 65536 name 64 range 0 253402300799999 list 1 1 " + formResource + " " +
			formConstants + " array first-authority end number extensions end"},
		{"certificate", true, "map is 2 name 64 is 4 range 1772431936 1772497471 is 5 range 1772366400 1772431935" +
			" is 6 range 0 253402300799 is 7 bytes 8 is 8 map is 1 map is 1 is 1 minus 1 is 6 minus 2 key end end" +
			" minus 70001 group minus 70002 number minus 70003 number end"},
		{"revocation", true, "array range 1 65536 bytes 16 number name 64 number extensions end"},
		{"endpoint", false, "array signer number is 1 list 1 8 address array end number extensions end"},
		{"leave", false, "array signer number extensions end"},
		{"failure", false, "array signer other number number extensions end"},
		{"request", false, "array name 64 key number bytes 16 extensions end"},
		{"genesis", false, "array name 64 number signer bytes 16 number number bytes 16 extensions end"},
		{"transfer", false, "array " + formToken + " signer other bytes 16 number bytes 16 bytes 32 maybe bytes 32 number blob 0 512 extensions end"},
	}
	for _, kind := range []string{"receipt", "void", "unknown"} {
		signed = append(signed, signedForm{kind, false, "array bytes 32 " + formToken + " signer bytes 16 extensions end"})
	}
	signed = append(signed, signedForm{"complaint", false, "array name 64 number signer other bytes 32 range 0 65536 range 1 4 range 1 9 number extensions end"})
	signed = append(signed, signedForm{"statement", false, "array name 64 number bytes 32 range 0 65536 bytes 32 signer bytes 16 bytes 32" +
		" range 1 65536 range 1 65536 range 1 65536 extensions end"})
	for _, f := range signed {
		list = append(list, vector.Case{Object: f.kind, Kind: f.kind, Authority: f.authority, Form: f.form})
	}
	for _, o := range slices.Concat(form.Messages(), form.Updates(), form.Records()) {
		list = append(list, vector.Case{Object: o.Name, Form: o.Form})
	}
	return list
}
