package envelope

import (
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/signature"
)

// Batch collects envelopes to be verified together, which costs less than one
// by one and gives the same verdicts. The zero value is empty and ready. A
// Batch is not safe for concurrent use.
type Batch struct {
	signatures signature.Batch
	envelopes  []Unverified
}

// Add takes in one envelope and the key to verify it with.
func (b *Batch) Add(u Unverified, key *signature.PublicKey) {
	b.signatures.Add(key, u.tbs, u.signature())
	b.envelopes = append(b.envelopes, u)
}

// Result is the verdict on one envelope of a batch.
type Result struct {
	Verified Verified // zero if Err is not nil
	Err      error    // ErrSignature, wrapping the reason
}

// Verify answers for each envelope in the order of Add. On random see
// signature.Batch.
func (b *Batch) Verify(random io.Reader) []Result {
	results := make([]Result, len(b.envelopes))
	errs := b.signatures.Verify(random)
	for i, u := range b.envelopes {
		if errs != nil && errs[i] != nil {
			results[i].Err = fmt.Errorf("%w: %w", ErrSignature, errs[i])
			continue
		}
		results[i].Verified = Verified{u.content}
	}
	return results
}
