package token

import "github.com/wandertoken/wander/crypto/envelope"

// Object is one encoded signed object of a token, verified or not: a genesis,
// transfer, receipt, void or unknown. The bytes alone do not say which; whoever
// has them knows from where.
type Object struct {
	Kind envelope.Kind
	Raw  []byte
}
