package ring

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var corrected = []Algorithm{S, Q, D, E}

// holder is a processor at which a token rests.
func holder(alg Algorithm, n int) Station {
	s := NewStation(alg)
	if alg == S {
		s.here = true // it would not rest
		return s
	}
	s.Return(Baton{}, n)
	return s
}

func TestRule1(t *testing.T) {
	for _, alg := range corrected {
		t.Run(alg.String(), func(t *testing.T) {
			s := holder(alg, 3)
			assert.Equal(t, Output{Enter: true}, s.Need(3), "it has the token")
			assert.True(t, s.Inside())
			assert.Zero(t, s.Need(3), "already inside")

			s = NewStation(alg)
			assert.Equal(t, Output{Request: alg != S}, s.Need(3))
			assert.True(t, s.Waits())
			assert.Zero(t, s.Need(3), "a processor asks again only after it was served")
		})
	}
}

func TestCorrection1_RequestDuringSection_PassedAtExit(t *testing.T) {
	for _, alg := range []Algorithm{Q, D, E} {
		t.Run(alg.String(), func(t *testing.T) {
			s := holder(alg, 3)
			s.Need(3)
			require.Zero(t, s.Request(3))
			require.True(t, s.holds())
			out := s.Exit(3)
			assert.True(t, out.Pass)
			assert.Positive(t, out.Baton.Count)
			assert.False(t, s.holds())
		})
	}
	for _, alg := range []Algorithm{QPublished, DPublished} {
		s := holder(alg, 3)
		s.Need(3)
		assert.True(t, s.Request(3).Pass, "%v to the letter", alg)
	}
	for _, alg := range []Algorithm{QDeferred, DDeferred} {
		s := holder(alg, 3)
		s.Need(3)
		s.Request(3)
		assert.Zero(t, s.Exit(3), "%v: rule 1 says nothing about the exit", alg)
	}
}

func TestQCounts(t *testing.T) {
	s := holder(Q, 4)
	s.Need(4)
	s.Request(4)
	s.Request(4)
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 2}}, s.Exit(4), "correction 2: nothing is taken for a section of rule 1")

	s = NewStation(Q)
	s.Need(4)
	assert.Equal(t, Output{Enter: true}, s.Arrive(Baton{Count: 2}, 4))
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 1}}, s.Exit(4))
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 1, Idle: 1}}, s.Arrive(Baton{Count: 1}, 4))
	s.Need(4)
	assert.Equal(t, Output{Enter: true}, s.Arrive(Baton{Count: 1}, 4))
	assert.Zero(t, s.Exit(4), "nobody is left")
	assert.True(t, s.holds())
}

func TestQ_Withdrawn_RequestTakenBack(t *testing.T) {
	s := NewStation(Q)
	s.Need(4)
	s.Withdraw(4)
	assert.Zero(t, s.Need(4), "the first request is still under way")
	s.Withdraw(4)
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 1}}, s.Arrive(Baton{Count: 2}, 4))
	assert.True(t, s.Need(4).Request)
}

func TestDAndE_SecondRequest_Stopped(t *testing.T) {
	for _, alg := range []Algorithm{D, E} {
		s := NewStation(alg)
		assert.True(t, s.Request(3).Request)
		assert.Zero(t, s.Request(3))
		assert.Zero(t, s.Need(3), "the request that passed will bring the token")
		s.Arrive(Baton{Count: 1}, 3)
		s.Exit(3)
		s.lose()
		assert.True(t, s.Need(3).Request, "the token cleared the mark")
	}
}

// TestToken_ComesBack_MarkCleared: a request that reaches it there is
// answered, so the next one must not be stopped.
func TestToken_ComesBack_MarkCleared(t *testing.T) {
	for _, alg := range []Algorithm{D, E} {
		s := NewStation(alg)
		require.True(t, s.Request(3).Request)
		require.Zero(t, s.Return(Baton{}, 3))
		require.True(t, s.Request(3).Pass)
		assert.True(t, s.Request(3).Request, "%v", alg)
	}
}

func TestQ_Registers_NoMoreThanOthers(t *testing.T) {
	s := holder(Q, 3)
	s.Need(3)
	for range 5 {
		s.Request(3)
	}
	assert.Equal(t, uint32(2), s.baton.Count)
}

func TestD_Request_SearchesAndChecks(t *testing.T) {
	s := holder(D, 4)
	out := s.Request(4)
	require.Equal(t, Output{Pass: true, Baton: Baton{Active: true, Count: 3}}, out)

	assert.Equal(t, Output{Pass: true, Baton: Baton{Active: true, Count: 2}}, s.Arrive(out.Baton, 4))
	s.Need(4)
	assert.True(t, s.Arrive(Baton{Active: true, Count: 1}, 4).Enter)
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 3}}, s.Exit(4), "the check tour")
	s.Need(4)
	assert.True(t, s.Arrive(Baton{Count: 3}, 4).Enter)
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 2}}, s.Exit(4))
	assert.Zero(t, s.Arrive(Baton{Active: true, Count: 1}, 4), "correction 3: the search is bounded")
	assert.Zero(t, s.baton, "and is over")
}

func TestE_Request_OneTour(t *testing.T) {
	s := holder(E, 4)
	require.Equal(t, Output{Pass: true, Baton: Baton{Count: 3}}, s.Request(4))
	s.Need(4)
	assert.True(t, s.Arrive(Baton{Count: 2}, 4).Enter)
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 1}}, s.Exit(4), "serving does not lengthen the tour")
	assert.Zero(t, s.Arrive(Baton{Count: 1}, 4))
	assert.True(t, s.holds())
}

func TestS_NoRequest_AlwaysMoves(t *testing.T) {
	s := NewStation(S)
	assert.True(t, s.Arrive(Baton{}, 2).Pass)
	s.Need(2)
	assert.True(t, s.Return(Baton{}, 2).Enter, "it was still here")
	assert.True(t, s.Exit(2).Pass)
}

func TestAlone(t *testing.T) {
	for _, alg := range corrected {
		s := NewStation(alg)
		s.Need(1)
		assert.True(t, s.Return(awake(alg, 1), 1).Enter)
		assert.Zero(t, s.Request(1))
		assert.Zero(t, s.Exit(1), "there is nobody to pass to")
		assert.Zero(t, s.Request(1))
		assert.True(t, s.holds())
	}
}

func TestAwake_AllOthers_Visited(t *testing.T) {
	const n = 5
	for _, alg := range []Algorithm{Q, D, E} {
		visits := 0
		first := NewStation(alg)
		for out := first.Return(awake(alg, n), n); out.Pass && visits <= 2*n; visits++ {
			s := NewStation(alg)
			out = s.Arrive(out.Baton, n)
		}
		want := n - 1
		if alg == Q {
			want = n // its limit: back to where it began
		}
		assert.Equal(t, want, visits, "%v", alg)
	}
}

func TestRepeat(t *testing.T) {
	for _, alg := range []Algorithm{Q, D, E} {
		s := NewStation(alg)
		assert.Zero(t, s.repeat(3), "nothing to repeat")
		s.Need(3)
		assert.True(t, s.repeat(3).Request)
	}
	s := NewStation(S)
	s.Need(3)
	assert.Zero(t, s.repeat(3), "S knows no requests")
}

func TestTokens_Two_BecomeOne(t *testing.T) {
	s := holder(Q, 5)
	s.Need(5)
	s.Request(5)
	assert.Zero(t, s.Arrive(Baton{Count: 3, Idle: 2}, 5))
	assert.Equal(t, Output{Pass: true, Baton: Baton{Count: 3}}, s.Exit(5))
}

// TestLiar_Token_Rests: whatever a baton says, and whatever the processors were
// told before, the token rests after one tour, or n-1 more for each that is
// served.
func TestLiar_Token_Rests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alg := rapid.SampledFrom([]Algorithm{Q, D, E}).Draw(t, "algorithm")
		n := rapid.IntRange(1, 9).Draw(t, "n")
		stations := make([]Station, n)
		served := 0
		for p := range stations {
			stations[p] = NewStation(alg)
			if rapid.Bool().Draw(t, "needs") {
				stations[p].Need(n)
				served++
			}
		}
		out := Output{Pass: true, Baton: Baton{
			Active: rapid.Bool().Draw(t, "active"),
			Count:  rapid.Uint32().Draw(t, "count"), Idle: rapid.Uint32().Draw(t, "idle"),
		}}
		hops := 0
		for p := 0; out.Pass && hops <= n*(2+served); p = (p + 1) % n {
			hops++
			if out = stations[p].Arrive(out.Baton, n); out.Enter {
				out = stations[p].Exit(n)
			}
		}
		assert.LessOrEqual(t, hops, n*(1+served))
	})
}

func TestBatonBytes(t *testing.T) {
	b := Baton{Active: true, Count: 0x01020304, Idle: 5}
	bytes := AppendBaton([]byte{9}, b)
	assert.Equal(t, []byte{9, 1, 1, 2, 3, 4, 0, 0, 0, 5}, bytes)
	parsed, err := ParseBaton(bytes[1:])
	require.NoError(t, err)
	assert.Equal(t, b, parsed)

	for name, wrong := range map[string][]byte{
		"empty": nil, "short": bytes[2:], "long": bytes, "state": {2, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		_, err := ParseBaton(wrong)
		assert.ErrorIs(t, err, ErrBaton, name)
	}
}

func TestAlgorithmNames(t *testing.T) {
	assert.Equal(t, "e", E.String())
	assert.Equal(t, "d-deferred", DDeferred.String())
	assert.Equal(t, "unknown", Algorithm(99).String())
	for alg := range Algorithm(algorithms) {
		parsed, err := ParseAlgorithm(alg.String())
		require.NoError(t, err)
		assert.Equal(t, alg, parsed)
	}
	_, err := ParseAlgorithm("E")
	assert.ErrorIs(t, err, ErrAlgorithm)
}
