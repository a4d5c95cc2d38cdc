package counted

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	assert.Equal(t, "0 members", Of(0, "member"))
	assert.Equal(t, "1 member", Of(1, "member"))
	assert.Equal(t, "2 losses", Of(uint64(2), "loss"))
	assert.Equal(t, "1 loss", Of(int64(1), "loss"))
	assert.Equal(t, "18446744073709551615 crashes", Of(^uint64(0), "crash"))
}
