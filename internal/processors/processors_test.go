package processors_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/processors"
)

func TestQuiet_OnAndOff_OneProcessorAndAllAgain(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.SetDefaultGOMAXPROCS()
	all := runtime.GOMAXPROCS(0)
	processors.Quiet(true)
	assert.Equal(t, 1, runtime.GOMAXPROCS(0))
	processors.Quiet(false)
	assert.Equal(t, all, runtime.GOMAXPROCS(0))
}

func TestQuiet_OperatorHasSetGOMAXPROCS_NothingChanges(t *testing.T) {
	t.Setenv("GOMAXPROCS", "3")
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.GOMAXPROCS(3)
	processors.Quiet(true)
	assert.Equal(t, 3, runtime.GOMAXPROCS(0))
}
