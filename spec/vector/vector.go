package vector

import "strings"

// Version is that of the files.
const Version = 1

// Valid is the outcome of an input that is accepted.
const Valid = "valid"

// The classes of vectors.
const (
	ClassValid     = "valid"     // as an honest member makes it
	ClassInvalid   = "invalid"   // wrong in one place
	ClassMalicious = "malicious" // made by somebody who means harm
)

// File is one file of vectors.
type File struct {
	V         int        `json:"v"`
	About     string     `json:"about"`
	Vectors   []Vector   `json:"vectors,omitempty"`
	Scenarios []Scenario `json:"scenarios,omitempty"`
}

// Vector is one input and its outcome.
type Vector struct {
	Name         string   `json:"name"` // no two are the same in a directory
	Description  string   `json:"description"`
	Requirements []string `json:"requirements"` // of the specification
	Class        string   `json:"class"`
	Object       string   `json:"object"` // what the input is to be read as
	// Outcome is Valid or the name of the error; Cause the error that this one
	// wraps, where the text names one.
	Outcome string `json:"outcome"`
	Cause   string `json:"cause,omitempty"`
	// Rule is what the input has in the CDDL files, and Shape whether it matches;
	// empty where there is no rule.
	Rule  string `json:"rule,omitempty"`
	Shape bool   `json:"shape,omitempty"`
	Input Bytes  `json:"input"`
	// With is what is needed besides: see the README.
	With map[string]Bytes `json:"with,omitempty"`
	// What follows explains the input, as far as it can be taken apart.
	Signed     *Signed `json:"signed,omitempty"`
	Diagnostic string  `json:"diagnostic,omitempty"` // of the payload, or of the whole
}

// Signed is a signed object taken apart.
type Signed struct {
	Kind         string `json:"kind"`
	Signer       string `json:"signer"` // whose key made the signature, as keys.json calls it
	KeyID        Bytes  `json:"key_id"`
	Payload      Bytes  `json:"payload"`
	SigStructure Bytes  `json:"sig_structure"`
	Hash         Bytes  `json:"hash"`
	Signature    Bytes  `json:"signature"`
}

// Parties is keys.json: the group of the vectors and everybody's keys. They are
// published, so they are worth nothing.
type Parties struct {
	V     int    `json:"v"`
	About string `json:"about"`
	Group Bytes  `json:"group"`
	// Configuration is the group configuration that holds in the scenarios.
	Configuration Bytes   `json:"configuration"`
	Parties       []Party `json:"parties"`
}

// Party is somebody who signs.
type Party struct {
	Name string `json:"name"`
	// Authority says that this is a key of the CA.
	Authority bool `json:"authority,omitempty"`
	// Known says that the reader of the vectors has the certificate, or the
	// statement about the CA key.
	Known  bool  `json:"known"`
	Seed   Bytes `json:"seed"` // the private key (RFC 8032 §5.1.5)
	Public Bytes `json:"public"`
	ID     Bytes `json:"id"` // member id or CA key id
	// Certificate is the member's, or the statement about the CA key.
	Certificate Bytes `json:"certificate"`
}

// RuleOf is the CDDL file that a rule of a vector is in, and its name
// there: "journal:record" is record of journal.cddl, and a rule without file is
// one of wire.cddl.
func RuleOf(rule string) (file, name string) {
	if file, name, found := strings.Cut(rule, ":"); found {
		return file + ".cddl", name
	}
	return "wire.cddl", rule
}
