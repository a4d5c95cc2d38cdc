package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/wandertoken/wander/spec/form"
	"github.com/wandertoken/wander/spec/vector"
)

// hashesFile is hashes.json, over so many cases. The values are drawn as the
// runner draws them, and encoded and signed by the other implementation.
func hashesFile(cases int) (*vector.Hashes, error) {
	f := &vector.Hashes{
		V: vector.Version, Cases: cases, Short: vector.ShortCases,
		About: "One SHA-256 for each object over seeded cases: README.md says how they are drawn.",
	}
	for _, c := range seeded() {
		h := vector.Hash{Case: c}
		sum := sha256.New()
		for n := range cases {
			raw, err := makeCase(c, n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Object, err)
			}
			sum.Write(raw)
			if n+1 == vector.ShortCases {
				h.ShortHash = sum.Sum(nil)
			}
		}
		h.Hash = sum.Sum(nil)
		f.Hashes = append(f.Hashes, h)
	}
	return f, nil
}

// makeCase is one case of an object.
func makeCase(c vector.Case, n int) ([]byte, error) {
	members := []*party{ada, ben, cleo}
	member, other := members[n%3], members[(n+1)%3]
	drawn, err := c.Form.Draw(form.NewStream(c.Object, uint32(n)), map[string][]byte{
		"signer": member.id, "other": other.id, "key": member.public, "group": groupID,
		"first-authority": firstCA.id, "second-authority-key": secondCA.public,
	})
	if err != nil {
		return nil, err
	}
	raw := encode(drawn)
	switch {
	case c.Kind == "":
		return raw, nil
	case c.Authority:
		member = firstCA
	}
	return as(raw, c.Kind, member).seal().raw, nil
}
