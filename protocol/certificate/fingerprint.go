package certificate

import (
	"encoding/hex"
	"strings"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
)

// Fingerprint is how a key is shown to people, who compare it with what somebody
// else sees: the first half of its SHA-256. For a CA key it is the key id under
// which it signs, see AuthorityID.
func Fingerprint(key *signature.PublicKey) string { return FormatFingerprint(AuthorityID(key)) }

// FormatFingerprint is the form of all fingerprints, one word of eight groups:
// SHA256:0123-4567-…
func FormatFingerprint(id [envelope.KeyIDSize]byte) string {
	var groups []string
	for i := 0; i < len(id); i += 2 {
		groups = append(groups, hex.EncodeToString(id[i:i+2]))
	}
	return "SHA256:" + strings.Join(groups, "-")
}
