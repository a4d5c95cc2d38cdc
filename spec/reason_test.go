package spec_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
)

// TestPrintable: the text lists exactly the characters that the reason of a
// revocation must not have.
func TestPrintable(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| U\+([0-9A-F]+) \| U\+([0-9A-F]+) \|`).FindAllStringSubmatch(page(t, core), -1)
	require.NotEmpty(t, rows)
	listed := make(map[rune]bool)
	for _, row := range rows {
		from, err := strconv.ParseInt(row[1], 16, 32)
		require.NoError(t, err)
		to, err := strconv.ParseInt(row[2], 16, 32)
		require.NoError(t, err)
		for r := from; r <= to; r++ {
			listed[rune(r)] = true
		}
	}
	for r := range rune(utf8.MaxRune + 1) {
		if !utf8.ValidRune(r) {
			continue // a surrogate: no UTF-8
		}
		if refused := certificate.CheckReason(string(r)) != nil; refused != listed[r] {
			assert.Fail(t, "the text and the code disagree", fmt.Sprintf("%U, refused: %t", r, refused))
		}
	}
	for _, bad := range []string{"\xff", "\xed\xa0\x80", "a\xc0\x80"} {
		assert.ErrorIs(t, certificate.CheckReason(bad), certificate.ErrReason, "%q is no UTF-8", bad)
	}
}
