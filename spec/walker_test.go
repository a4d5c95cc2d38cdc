package spec_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// three is a policy.Roster of Ada, Ben and Cleo, as Ada has it.
type three struct{}

func (three) Draw(n int, to []ident.Member) []ident.Member { return three{}.Witnesses(ada.id, n, to) }

func (three) Others(n int, to []ident.Member) []ident.Member { return three{}.Draw(n, to) }

func (three) Size() int { return 2 }

func (three) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for _, id := range []ident.Member{ada.id, ben.id, cleo.id} {
		if id != of && n > 0 {
			to, n = append(to, id), n-1
		}
	}
	return to
}

// word is something that Ada says under the preset fair.
type word struct {
	what string
	body []byte
}

// walkerWords are one body of each kind, in the order of their numbers, and the field
// of a token that Ada passes on.
func walkerWords(t *testing.T, id ident.Token) []word {
	agent, err := wandering.New(policy.Params{
		Preset: wandering.Fair, OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: 100 * time.Millisecond,
	}, policy.Surroundings{Self: ada.id, Random: rand.NewPCG(1, 2), Roster: three{}})
	require.NoError(t, err)
	words := make([]word, 7)
	step := func(seconds float64, e policy.Event) {
		for _, a := range agent.Step(clock.Instant(seconds*1e9), e, nil) {
			switch {
			case a.Kind == policy.Pass:
				words[0].body = bytes.Clone(a.Field)
			case a.Kind == policy.Tell && words[a.Field[0]].body == nil:
				words[a.Field[0]].body = bytes.Clone(a.Field)
			}
		}
	}
	hears := func(seconds float64, from ident.Member, parts ...[]byte) {
		step(seconds, policy.Event{Kind: policy.Message, From: from, Body: slices.Concat(parts...)})
	}
	say := func(number int, what string) { words[number].what = what }
	timer, none := policy.Event{Kind: policy.Timer}, make([]byte, 52)
	token := policy.Token{ID: id, Born: millis, Hop: 3}

	step(0, policy.Event{Kind: policy.DemandChanged, Demand: true})
	step(0.5, timer)
	say(5, "A demand, to Ben and Cleo, half a second after Ada has begun")
	hears(10, cleo.id, []byte{5, 1, 0, 0, 0, 0})
	hears(20, ben.id, []byte{1}, none, make([]byte, 24))
	say(2, "A report, to Ben, who has sent a look without a member. Cleo began to want the token 10 seconds ago, and counts as served Δmin, 10 minutes, before")
	hears(30, ben.id, []byte{3}, none, ada.id[:])
	say(4, "An answer, to Ben's inquire about Ada herself. She wants the token, and began her work half a minute ago")

	arrived := token
	arrived.Field = slices.Concat([]byte{1, 0, 0, 0, 0x27, 0x10}, cleo.id[:], []byte{0, 0x0a, 0, 0}, bytes.Repeat([]byte{1}, 16), []byte{0, 4, 0, 0})
	step(700, policy.Event{Kind: policy.Arrival, From: ben.id, Token: arrived})
	earlier := slices.Concat(bytes.Repeat([]byte{8}, 32), binary.BigEndian.AppendUint64(nil, millis-1), make([]byte, 8), []byte{0, 0, 0x03, 0xe8})
	hears(700.1, cleo.id, []byte{3}, earlier, cleo.id[:])
	say(6, "A heard, to Cleo, who inquires with a token that was made earlier. The token 0707… is with Ada, at hop 3")
	step(700.5, timer)
	say(3, "An inquire about Cleo, to her. Ada has had that token for half a second, and it was 10 seconds old")
	hears(700.6, cleo.id, []byte{4}, cleo.id[:], []byte{0, 0x0a, 0, 0, 1})
	hears(700.6, ben.id, []byte{4}, cleo.id[:], []byte{0, 0x0a, 0, 0, 1})
	step(704, policy.Event{Kind: policy.OperationEnded, Token: token, Operated: true})
	say(0, "The field of that token when it goes on to Cleo, 14 seconds old, with one candidate left, 0101…, served 266 seconds ago")
	step(704.1, policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: cleo.id, Token: token})
	say(1, "A look, to Ben, a timekeeper of Cleo, when she has taken the token at hop 4")
	return words
}

// walkerExamples shows them.
func walkerExamples(t *testing.T, g *gallery) {
	words := walkerWords(t, ident.Token(bytes.Repeat([]byte{7}, 32)))
	g.text("Of Ada, Ben and Cleo under `wandering`, preset `fair`, where an operation takes 4 seconds and `members_max` is", "300: what Ada says.")
	for _, w := range append(words[1:], words[0]) {
		g.plain(w.what, w.body)
	}
}

var (
	walkerRow  = regexp.MustCompile(`(?m)^\| ([1-9]) \| [a-z]+ \| .* \| (.*) \|$`)
	walkerSize = regexp.MustCompile(`\(([0-9]+)\)`)
)

// Each kind of body has the size that the table in policy/wandering.md gives it.
func TestWalkerSizes(t *testing.T) {
	_, text, found := strings.Cut(page(t, "policy/wandering.md"), "\n## `light` and `fair`\n")
	require.True(t, found)
	checkSizes(t, walkerWords(t, ident.Token{7})[1:], walkerRow.FindAllStringSubmatch(text, -1))
}

// checkSizes compares bodies with the rows of a table: kind, and the sizes of the fields.
func checkSizes(t *testing.T, words []word, rows [][]string) {
	require.Len(t, rows, len(words))
	for i, row := range rows {
		body := words[i].body
		require.NotEmpty(t, body, "%s", row[0])
		require.Equal(t, strconv.Itoa(int(body[0])), row[1])
		size := 1
		for _, m := range walkerSize.FindAllStringSubmatch(row[2], -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			size += n
		}
		require.Len(t, body, size, "%s", row[0])
	}
}
