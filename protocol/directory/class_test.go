package directory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestClasses_Number_RoundTrip: a class keeps its number, and those beyond the bound count as none.
func TestClasses_Number_RoundTrip(t *testing.T) {
	var c classes
	assert.Zero(t, c.number(""))
	for i := range classesMost {
		name := fmt.Sprint("c", i)
		assert.Equal(t, name, c.name(c.number(name)))
	}
	assert.Equal(t, "c3", c.name(c.number("c3")))
	assert.Zero(t, c.number("one-more"))
	assert.Empty(t, c.name(0))
}
