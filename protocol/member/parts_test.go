package member_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// manySettings have as many resources as there may be, with the longest names.
func manySettings(version uint64) group.Settings {
	s := settings(version, quick)
	s.Resources = nil
	for i := range group.MaxResources {
		name := fmt.Sprintf("%04d%s", i, strings.Repeat("r", group.MaxName-4))
		s.Resources = append(s.Resources, group.Resource{Name: name, Params: quick}.WithDefaults())
	}
	return s
}

// many is a group with so many resources, version 2, and its messages.
func (a *authority) many() (c group.Config, parts []*wire.Configuration) {
	c, err := manySettings(2).Sign(a.group.ID(), a.key)
	require.NoError(a.t, err)
	return c, wire.ConfigurationParts(c.Raw(), nil)
}

func TestConfiguration_InParts_Adopted(t *testing.T) {
	a := newAuthority(t)
	b, peer, other := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	b.meet(peer)
	b.meet(other)
	c, parts := a.many()
	require.Greater(t, len(parts), 4)
	for i, p := range parts {
		require.EqualValues(t, 1, b.Status().Configuration, "before part %d", i)
		b.hear(peer, p)
	}
	assert.EqualValues(t, 2, b.Status().Configuration)
	assert.Len(t, b.Status().Slots, group.MaxResources, "the one before is gone")
	var passedOn []byte
	for _, p := range messages[*wire.Configuration](b, other.id()) {
		passedOn = append(passedOn, p.Configuration...)
	}
	assert.True(t, bytes.Equal(c.Raw(), passedOn), "it is passed on")
	for _, r := range b.journal {
		_, err := journal.Encode(r.At, r.Record)
		require.NoError(t, err, "it fits the journal")
	}
	b.restart()
	assert.EqualValues(t, 2, b.Status().Configuration)
}

func TestConfiguration_InParts_OutOfOrder_Ignored(t *testing.T) {
	a := newAuthority(t)
	b, peer, other := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour), a.issue(3, time.Hour)
	b.meet(peer)
	b.meet(other)
	_, parts := a.many()
	last := len(parts) - 1
	for name, list := range map[string][]*wire.Configuration{
		"the last alone":    {parts[last]},
		"one is missing":    append(append([]*wire.Configuration{}, parts[:2]...), parts[3:]...),
		"one comes twice":   append(append([]*wire.Configuration{}, parts[:2]...), parts[1:]...),
		"begins at the end": append(append([]*wire.Configuration{}, parts[1:]...), parts[0]),
	} {
		for _, p := range list {
			b.hear(peer, p)
		}
		assert.EqualValues(t, 1, b.Status().Configuration, name)
		assert.Empty(t, b.Faults(), "%s: frames are lost with connections and in full queues, which is nobody's fault", name)
		b.after(time.Minute)
	}
	for i, p := range parts { // two peers that send half each do not make a whole
		from := peer
		if i%2 == 1 {
			from = other
		}
		b.hear(from, p)
	}
	assert.EqualValues(t, 1, b.Status().Configuration)
	for _, p := range parts { // what came before does not stand in the way
		b.hear(other, p)
	}
	assert.EqualValues(t, 2, b.Status().Configuration)
}

// A peer that begins again and again is heard no more often than one that sends whole
// configurations, and what has come from it goes with its connection.
func TestConfiguration_InParts_Bounded(t *testing.T) {
	a := newAuthority(t)
	b, peer := a.open(a.issue(1, time.Hour), nil), a.issue(2, time.Hour)
	b.meet(peer)
	_, parts := a.many()
	for range 100 {
		b.hear(peer, parts[0])
	}
	assert.GreaterOrEqual(t, b.Status().Rejected["configuration rate"], uint64(80))
	for n := range byte(40) {
		p := a.issue(10+n, time.Hour)
		b.meet(p)
		b.hear(p, parts[0])
		assert.LessOrEqual(t, b.Assemblies(), 16)
	}
	assert.Equal(t, 16, b.Assemblies())
}
