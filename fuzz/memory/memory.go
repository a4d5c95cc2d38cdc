// Package memory gives the keys of fuzz targets a memory of verdicts on signatures.
package memory

import (
	"os"

	"github.com/wandertoken/wander/crypto/signature"
)

// Variable is the environment variable by which fuzz/run asks for one.
const Variable = "WANDER_FUZZ_MEMORY"

// New is a memory for the keys of a target, or nil unless fuzz/run asks for one. A search
// needs the same verdicts a million times; a test computes each.
func New() *signature.Memory {
	if os.Getenv(Variable) == "" {
		return nil
	}
	return new(signature.Memory)
}
