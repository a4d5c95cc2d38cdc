package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Text from elsewhere stays on its line, and no terminal takes a part of it for a command.
func TestOneLine_Controls_Replaced(t *testing.T) {
	assert.Equal(t, "a b c??d?[2J?2J?ü", OneLine("a\nb\tc\r\x00d\x1b[2J\u009b2J\x7fü"))
}
