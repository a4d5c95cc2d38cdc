package certificate_test

import (
	"testing"

	"github.com/wandertoken/wander/protocol/certificate"
)

// What a directory pays for keeping certificates as bytes, beside what it would
// pay for verifying them again.
func BenchmarkCertificate(b *testing.B) {
	signed, err := claims().Sign(caKey)
	if err != nil {
		b.Fatal(err)
	}
	packed, cas := signed.Pack(), trusting(caKey)
	b.Run("Open", func(b *testing.B) {
		for range b.N {
			packed.Open()
		}
	})
	b.Run("Peek", func(b *testing.B) {
		for range b.N {
			_, _ = certificate.Peek(group, signed.Raw())
		}
	})
	b.Run("Parse", func(b *testing.B) {
		for range b.N {
			_, _ = certificate.Parse(group, signed.Raw(), cas)
		}
	})
}
