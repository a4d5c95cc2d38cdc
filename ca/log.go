package ca

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// event is what a line of the log is about.
type event string

const (
	created    event = "created"       // the first line: the CA certificate
	configured event = "configuration" // a signed group configuration
	issued     event = "issued"        // a certificate
	introduced event = "introduced"    // another CA key, vouched for by the one that signs
	revoked    event = "revoked"       // a revocation
	invited    event = "invited"       // an invite, of which only a hash is kept
	left       event = "left"          // a member's own statement that it leaves
	cancelled  event = "cancelled"     // an invite that was taken back
	proved     event = "evidence"      // that a member broke the rules
)

// logVersion is the version of the log's form.
const logVersion = 1

// maxLine bounds a line of the log: the largest group configuration in base64, and
// the rest.
const maxLine = 512 << 10

// entry is one line of the log. What it says about the object is there for
// people and for a quick start; the object is what counts.
type entry struct {
	Version   int              `json:"v"`
	Sequence  uint64           `json:"seq"` // 1, 2, 3…
	Time      time.Time        `json:"time"`
	Event     event            `json:"event"`
	Number    uint64           `json:"version,omitempty"` // of the configuration or revocation list
	Serial    uint64           `json:"serial,omitempty"`
	Name      string           `json:"name,omitempty"`
	Member    *ident.Member    `json:"member,omitempty"`
	Role      certificate.Role `json:"role,omitempty"` // of the certificate, or of the one that the invite is for
	Class     string           `json:"class,omitempty"`
	NotBefore *time.Time       `json:"not_before,omitempty"`
	NotAfter  *time.Time       `json:"not_after,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Invite    *InviteID        `json:"invite,omitempty"`        // made, cancelled, or used by this certificate
	Secret    []byte           `json:"secret_sha256,omitempty"` // of the invite
	Evidence  *ident.Hash      `json:"evidence,omitempty"`      // its id; of a revocation: for which it is
	From      *ident.Member    `json:"from,omitempty"`          // who brought the evidence
	Object    []byte           `json:"object,omitempty"`        // the COSE_Sign1, or the evidence, base64
	// Hash is the SHA-256, in hex, of the hash of the line before (nothing in
	// the first) and this line with an empty hash.
	Hash string `json:"hash"`
}

// Reasons for which a line of the log is damaged.
var (
	errLine     = errors.New("malformed log line")
	errSequence = errors.New("a line is missing or out of order")
	errChain    = errors.New("this line or one before it was altered")
	errCreation = errors.New("the first line does not record the creation of an authority")
	errShrunk   = errors.New("the log is shorter than before")
)

// chain is the end of a log that has been read: what the next line must follow.
type chain struct {
	sequence uint64
	hash     string
	size     int64 // bytes up to the end of the last whole line
}

// hashOf is the hash of an entry that comes next.
func (c chain) hashOf(e entry) (string, error) {
	e.Hash = ""
	line, err := json.Marshal(e)
	sum := sha256.Sum256(append([]byte(c.hash), line...))
	return hex.EncodeToString(sum[:]), err
}

// encode makes the line that comes next, with its end.
func (c chain) encode(e entry) (entry, []byte, error) {
	e.Version, e.Sequence = logVersion, c.sequence+1
	hash, err := c.hashOf(e)
	if err != nil {
		return entry{}, nil, err
	}
	e.Hash = hash
	line, err := json.Marshal(e)
	if err == nil && len(line) > maxLine {
		err = fmt.Errorf("log line of %d bytes, must have at most %d", len(line), maxLine)
	}
	return e, append(line, '\n'), err
}

// decode reads the line that comes next, given without its end.
func (c chain) decode(line []byte) (entry, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil || e.Version != logVersion {
		return entry{}, errLine
	}
	if e.Sequence != c.sequence+1 {
		return entry{}, errSequence
	}
	_, again, err := c.encode(e)
	if err != nil {
		return entry{}, errLine
	}
	if !bytes.Equal(again[:len(again)-1], line) {
		return entry{}, errChain
	}
	return e, nil
}

// follow goes on behind an entry that has been written or read as a line.
func (c *chain) follow(e entry, line int) {
	c.sequence, c.hash = e.Sequence, e.Hash
	c.size += int64(line)
}

// read calls take with every whole line behind those that have been read. What
// follows the last line end is a write that a crash cut short: it was never
// acknowledged and is left out. The error is a *damageError.
func (c chain) read(file string, data []byte, take func(entry) error) (chain, error) {
	for {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		var (
			e   entry
			err error
		)
		if !whole {
			if isTorn(line) {
				return c, nil
			}
			err = errLine
		}
		if err == nil {
			e, err = c.decode(line)
		}
		if err == nil {
			err = take(e)
		}
		if err != nil {
			return chain{}, &damageError{file: file, line: int(c.sequence) + 1, reason: err}
		}
		c.follow(e, len(line)+1)
		data = rest
	}
}

// isTorn reports whether what stands behind the last line end can be the
// beginning of a line, perhaps filled up with zeros. A whole line with
// something else than a line end behind it has been altered.
func isTorn(tail []byte) bool {
	d := json.NewDecoder(bytes.NewReader(tail))
	var e entry
	if d.Decode(&e) != nil {
		return true
	}
	return len(bytes.Trim(tail[d.InputOffset():], "\x00")) == 0
}
