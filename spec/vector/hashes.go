package vector

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/spec/form"
)

// How many cases the hashes are over. The short ones are part of Check: with all
// objects they take a tenth of a second.
const (
	FullCases  = 10_000
	ShortCases = 100
)

// Hashes is hashes.json: one SHA-256 for each object over many cases that are
// drawn from a seed, as the README describes.
type Hashes struct {
	V      int    `json:"v"`
	About  string `json:"about"`
	Cases  int    `json:"cases"`       // of Hash
	Short  int    `json:"short_cases"` // of ShortHash
	Hashes []Hash `json:"hashes"`
}

// Case is an object of which seeded cases are made.
type Case struct {
	Object string `json:"object"`
	// Kind is what it is signed as; empty for what nobody signs. Authority says
	// that the first CA key signs, otherwise the member of the case.
	Kind      string    `json:"kind,omitempty"`
	Authority bool      `json:"authority,omitempty"`
	Form      form.Form `json:"form"`
}

// Hash is that of one object.
type Hash struct {
	Case
	Hash      Bytes `json:"hash"`
	ShortHash Bytes `json:"short_hash"`
}

// Bounds of hashes.json: a few times those of the project's own.
const (
	maxCases  = 100_000
	maxHashes = 256
)

func (h *Hashes) validate() error {
	if len(h.Hashes) > maxHashes || h.Cases < 1 || h.Cases > maxCases || h.Short < 1 || h.Short > FullCases {
		return fmt.Errorf("%w: %d hashes over %d and %d cases: permitted are %d, %d and %d",
			ErrFile, len(h.Hashes), h.Cases, h.Short, maxHashes, maxCases, FullCases)
	}
	return nil
}

// caseMembers are the members of the seeded cases, as keys.json calls them: that
// of case n is number n modulo 3, and the other one the next.
var caseMembers = []string{"ada", "ben", "cleo"}

func (r *Report) checkHashes(w *world, h *Hashes, full bool) {
	r.Cases = h.Short
	if full {
		r.Cases = h.Cases
	}
	for _, object := range h.Hashes {
		want := object.ShortHash
		if full {
			want = object.Hash
		}
		got, err := w.hashCases(object.Case, r.Cases)
		if err == nil && !bytes.Equal(got, want) {
			err = fmt.Errorf("the hash of %d cases is %x, and not %x", r.Cases, got, []byte(want))
		}
		r.Hashes++
		r.fail(HashesFile, object.Object, err)
	}
}

// hashCases is the SHA-256 of the encodings of the first cases of an object,
// one behind the other.
func (w *world) hashCases(c Case, cases int) ([]byte, error) {
	sum := sha256.New()
	for n := range cases {
		raw, err := w.makeCase(c, uint32(n))
		if err != nil {
			return nil, fmt.Errorf("case %d: %w", n, err)
		}
		sum.Write(raw)
	}
	return sum.Sum(nil), nil
}

// makeCase draws, encodes and, if it is to be, signs one case. What this
// implementation has written it must be able to read.
func (w *world) makeCase(c Case, number uint32) ([]byte, error) {
	member, other := w.parties[caseMembers[number%3]], w.parties[caseMembers[(number+1)%3]]
	first, second := w.parties["first-authority"], w.parties["second-authority"]
	if member == nil || other == nil || first == nil || second == nil {
		return nil, fmt.Errorf("%w: a party of the seeded cases is missing", ErrParties)
	}
	item, err := c.Form.Draw(form.NewStream(c.Object, number), map[string][]byte{
		"signer": member.ID, "other": other.ID, "key": member.Public, "group": w.group[:],
		"first-authority": first.ID, "second-authority-key": second.Public,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	raw := item.Append(nil)
	object, _, _ := strings.Cut(c.Object, " ")
	if c.Kind != "" {
		if c.Authority {
			member = first
		}
		signed, err := envelope.Sign(
			envelope.Domain{Version: 1, Group: w.group, Kind: kinds[c.Kind]}, [envelope.KeyIDSize]byte(member.ID), raw, member.private)
		if err != nil {
			return nil, err
		}
		raw = signed.Raw()
	}
	if readers[object] == nil {
		return nil, fmt.Errorf("%w: %q", ErrObject, object)
	}
	_, err = readers[object](w, &Vector{Object: object, Input: raw})
	return raw, err
}
