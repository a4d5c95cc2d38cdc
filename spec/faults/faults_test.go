package main

import (
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFaults_Each_Applies: each has exactly one place in the tree, and leaves Go behind.
func TestFaults_Each_Applies(t *testing.T) {
	require.Len(t, faults, 10)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			text, err := os.ReadFile("../../" + f.file)
			require.NoError(t, err)
			wrong, err := f.in(string(text))
			require.NoError(t, err)
			assert.NotEqual(t, string(text), wrong)
			_, err = parser.ParseFile(token.NewFileSet(), f.file, wrong, 0)
			require.NoError(t, err)
			_, err = f.in("something else")
			require.ErrorIs(t, err, ErrFault)
		})
	}
}
