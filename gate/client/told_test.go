package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A gate that says HELLO again and again is told each version twice at most.
func TestAsks_AgainAndAgain_ToldTwice(t *testing.T) {
	mine := versions{7, 30}
	var of told
	configurations, revocations := 0, 0
	tell := func() { // as Conn.update does
		if mine.configuration > of.has.configuration {
			configurations++
			of.has.configuration = mine.configuration
		}
		if mine.revocations > of.has.revocations {
			revocations++
			of.has.revocations = mine.revocations
		}
	}
	for range 10 {
		of.asks(versions{1, 0})
		tell()
	}
	assert.Equal(t, 2, configurations)
	assert.Equal(t, 2, revocations)
	mine = versions{8, 31}
	for range 10 {
		tell()
		of.asks(versions{1, 0})
	}
	tell()
	assert.Equal(t, 4, configurations, "a newer one counts anew")
	assert.Equal(t, 4, revocations)
	of.asks(versions{9, 31})
	tell()
	assert.Equal(t, 4, configurations, "it has a newer one")
}
