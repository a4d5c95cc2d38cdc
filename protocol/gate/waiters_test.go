package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
)

func TestWaiters_SignsInAgain_KeepsItsPlace(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(100, 1).permit(0))
	b.signIn(8, tokenOf(1, 2).permit(0))
	b.signIn(9, tokenOf(2, 3).permit(0))
	b.signIn(10, tokenOf(1, 2).permit(0))
	assert.Equal(t, gate.Replaced, b.refused(8))
	b.over(7)
	require.Len(t, b.opens, 2)
	assert.Equal(t, memberID(2), b.opens[1].Title.Holder, "before the member that came after it")
}

func TestWaiters_SecondOfMember_MakesRoom(t *testing.T) {
	b := newBench(t, plain)
	b.opened(7, tokenOf(100, 1).permit(0))
	for n := range gate.MaxWaiters { // one member has tokens of all others
		b.signIn(gate.Connection(20+n), tokenOf(byte(n), 30+n, 2).permit(1))
	}
	b.signIn(50, tokenOf(60, 3).permit(0))
	assert.IsType(t, gate.BusyAnswer{}, b.said[50][0])
	assert.Equal(t, gate.Full, b.refused(gate.Connection(20+gate.MaxWaiters-1)))
}

func TestWaiters_LastServed_MakesRoom(t *testing.T) {
	b := newBench(t, plain)
	for n := range 2 {
		b.opened(gate.Connection(n+1), tokenOf(byte(n+90), 50+n).permit(0))
		b.over(gate.Connection(n + 1))
	}
	b.opened(7, tokenOf(100, 1).permit(0))
	b.signIn(10, tokenOf(1, 51).permit(0))
	b.signIn(11, tokenOf(2, 50).permit(0))
	for n := range gate.MaxWaiters - 1 {
		b.signIn(gate.Connection(20+n), tokenOf(byte(10+n), 10+n).permit(0))
	}
	assert.Equal(t, gate.Full, b.refused(10))
	b.step(gate.SignOut{Connection: 7})
	b.hook(gate.Succeeded)
	b.wait(plain.Settle)
	b.wait(plain.Keep)
	assert.Equal(t, memberID(10), b.opens[len(b.opens)-1].Title.Holder, "never served, and first of these")
}
