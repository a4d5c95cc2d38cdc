package spec_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/quorum"
)

// firstBen is a policy.Electorate of three in which Ben comes first.
type firstBen struct{}

func (firstBen) Voters(n int, to []ident.Member) ([]ident.Member, int) {
	return append(to, []ident.Member{ben.id, ada.id, cleo.id}[:min(n, 3)]...), 3
}

var voteRow = regexp.MustCompile(`(?m)^\| (1[0-9]{2}) \| [a-z]+ \| .* \| ?(.*)\|$`)

// Each kind of body has the size that the table in policy/quorum.md gives it.
func TestVoteSizes(t *testing.T) {
	words := voteWords()
	checkSizes(t, words, voteRow.FindAllStringSubmatch(page(t, "policy/quorum.md"), -1))
	for _, w := range words {
		require.NoError(t, quorum.CheckBody(w.body), "%s", w.what)
	}
}

// voteWords are one body of each kind, in the order of their numbers.
func voteWords() []word {
	params := policy.Params{OperationTime: 4e9, MaxHold: 12e9, MembersMax: 3, OnIsolated: policy.Stop}
	token := policy.Token{ID: ident.Token{7}, Born: millis, Hop: 3}
	step := func(q *quorum.Quorum, seconds float64, e policy.Event) (said []byte) {
		for _, a := range q.Step(clock.Instant(seconds*1e9), e, nil) {
			if a.Kind == policy.Tell {
				said = append([]byte(nil), a.Field...)
			}
		}
		return said
	}
	holder := &obedient{wants: []policy.Action{{Kind: policy.Run, Token: token.ID}}}
	asker := quorum.Around(holder, params, policy.Surroundings{Self: ada.id, Electorate: firstBen{}})
	ask := step(asker, 1, policy.Event{Kind: policy.Arrival, From: ben.id, Token: token})
	holder.wants = nil

	voter := quorum.Around(&obedient{}, params, policy.Surroundings{Self: ben.id, Electorate: firstBen{}})
	step(voter, 0, policy.Event{Kind: policy.Timer})
	vote := step(voter, 20, policy.Event{Kind: policy.Message, From: ada.id, Body: ask})
	other := append([]byte(nil), ask...)
	other[1]++
	free := step(voter, 21, policy.Event{Kind: policy.Message, From: cleo.id, Body: other})

	step(asker, 2, policy.Event{Kind: policy.Message, From: ben.id, Body: vote})
	ended := step(asker, 3, policy.Event{Kind: policy.OperationEnded, Token: token, Operated: true})
	return []word{{"An ask", ask}, {"A vote", vote}, {"A free", free}, {"An ended", ended}}
}
