package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// The last word is in the daemon's state folder, wherever its socket is.
func TestStateFolder_SocketElsewhere_Settings(t *testing.T) {
	env := &environment{Environment: cli.Environment{Getenv: func(name string) string {
		return map[string]string{"WANDER_STATE_DIR": "/var/x", "WANDER_API_SOCKET": "/run/x/wander.sock"}[name]
	}}}
	assert.Equal(t, "/var/x", stateFolder(env, "/run/x/wander.sock"), "the settings'")
	assert.Equal(t, filepath.FromSlash("a"), stateFolder(env, "a/"+api.SocketName), "beside it")
	assert.Empty(t, stateFolder(env, "/run/y/other.sock"), "anywhere")
}

func TestUnanswered_DaemonLives_Silent(t *testing.T) {
	env := &environment{Environment: cli.Environment{Getenv: func(string) string { return "" }}}
	for want, list := range map[api.Cause][]error{
		explain.DaemonSilent: {context.DeadlineExceeded, api.ErrUnavailable, errors.New("bad reply"), fmt.Errorf("%w: %w", api.ErrNoDaemon, fs.ErrPermission)},
		explain.NoDaemon:     {api.ErrNoDaemon},
	} {
		for _, err := range list {
			assert.Equal(t, want, unanswered(env, "/nowhere/"+api.SocketName, err).Cause, err)
		}
	}
}

// A daemon that takes the question and does not answer may well run: nobody is told to start another one.
func TestPatiently_NoAnswer_SaidSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := patiently(t.Context())
		defer cancel()
		<-ctx.Done()
		err := fmt.Errorf("%w: %w", api.ErrUnavailable, context.Cause(ctx)) // as the client reports it
		assert.Contains(t, err.Error(), "the daemon has not answered for 10s")
		assert.Contains(t, unansweredHint("nosuch.sock", err), "before you start it again")
	})
}

// People are told soon that the daemon does not answer, while the command goes on to wait; and nothing if it answers.
func TestTellSilent_NoAnswerYet_Named(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		silentSoon - 1: "",
		silentSoon + 1: "wander: the daemon has not answered for 1.5s; waiting for 8.5s more [daemon_silent]\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			stop := tellSilent(&said)
			time.Sleep(wait) // of the bubble's clock
			stop()
			time.Sleep(daemonPatience)
			assert.Equal(t, want, said.String())
		})
	}
}

// A monitor's line names what keeps the member from everything, and a gate that keeps programs out, whichever is seen first: a machine that runs late loses its
// gate now and then.
func TestCheckLine_MemberAndGate_BothNamed(t *testing.T) {
	why := func(c api.Cause) api.Why { return api.Why{Cause: c, Sentence: "about " + string(c)} }
	for _, c := range []struct {
		member, resource api.Cause
		want             string
	}{
		{explain.Late, explain.GateUnreachable, "m1: about late [late]; tape: about gate_unreachable [gate_unreachable] false"},
		{explain.Late, explain.Queued, "m1: about late [late] true"},
		{explain.Late, explain.RunsLong, "m1: about late [late] true"},
		{explain.OK, explain.GateStuck, "tape: about gate_stuck [gate_stuck] false"},
		{explain.OK, explain.RunsLong, "tape: about runs_long [runs_long] true"},
		{explain.OK, explain.Queued, "m1: about ok [ok] true"},
		{explain.Revoked, explain.GateUnreachable, "m1: about revoked [revoked] false"},
	} {
		st := api.Status{Name: "m1", Why: why(c.member), Resources: []api.ResourceStatus{{Name: "tape", Why: why(c.resource)}}}
		text, healthy := checkLine(&st)
		assert.Equal(t, c.want, fmt.Sprint(text, " ", healthy))
	}
}

// Another start mends no revocation and no full disk: the hint names the section about the daemon's last word.
func TestHintAt_LastWord_NamesSection(t *testing.T) {
	err := &cli.Error{Code: cli.ExitUnavailable, Err: api.ErrNoDaemon, Hint: "start it"}
	for c, want := range map[api.Cause]string{
		explain.Revoked: "wander help revoked says what to do", explain.DiskFull: "wander help disk_full says what to do",
		explain.NoDaemon: "start it", explain.DaemonSilent: "start it",
	} {
		var exit *cli.Error
		require.ErrorAs(t, hintAt(c, err), &exit)
		assert.Equal(t, want, exit.Hint)
		assert.Equal(t, cli.ExitUnavailable, exit.Code)
		assert.ErrorIs(t, exit, api.ErrNoDaemon)
	}
}

// A member that is cut off and has a token is not down.
func TestUnreached_TokenHere_NoError(t *testing.T) {
	st := api.Status{Why: api.Why{Cause: explain.Isolated}, Resources: []api.ResourceStatus{{}, {Slots: []api.SlotStatus{{}}}}}
	assert.Error(t, unreached(&st))
	st.Resources[1].Slots[0].Held = true
	assert.NoError(t, unreached(&st))
}

// The sentence is about one slot, so with several of them it is said of none.
func TestWhoAndEta_SeveralSlots_SentenceOnce(t *testing.T) {
	v := resourceView{Why: api.Why{Sentence: "token with m3"}, Slots: []slotView{
		{Slot: 0}, {Slot: 1, Search: &api.SearchStatus{Stage: "lost"}}, {Slot: 2, Holder: &api.HolderStatus{Name: "m1", How: api.Here}},
	}}
	var who, eta bytes.Buffer
	printHolders(&who, v)
	printEta(&eta, v)
	assert.Regexp(t, "^token with m3\nslot 0: unknown\nslot 1: unknown\nslot 2: m1 \\(", who.String())
	assert.Equal(t, "token with m3\nslot 0: unknown: too few returns of the token are known here\nslot 1: unknown\nslot 2: now\n", eta.String())
}

func TestEta_TokenLost_NotForWantOfReturns(t *testing.T) {
	v := resourceView{Why: api.Why{Sentence: "the token is lost"}, Slots: []slotView{{Search: &api.SearchStatus{Stage: "lost"}}}}
	var out bytes.Buffer
	printEta(&out, v)
	assert.Equal(t, "unknown: the token is lost\n", out.String())
}

// Of a turn that takes long nothing is predicted, and it is said since when that has been known.
func TestWhoAndEta_TurnTakesLong_Compared(t *testing.T) {
	took, ends := 42.0, 257.0
	v := resourceView{Waiting: 1, MaxHoldS: 300, Slots: []slotView{{
		Holder: &api.HolderStatus{Name: "m1", How: api.Said, AgeS: 0.3, SinceS: &took, ProgramS: &took, ProgramEndsS: &ends}, Long: &api.LongStatus{TookS: 42, UsualS: 1},
	}}}
	var out bytes.Buffer
	printEta(&out, v)
	assert.Equal(t, "m1's turn has taken 42s, turns of late took 1s: no prediction; it ends in 4m17s at the latest\n", out.String())
	out.Reset()
	printHolders(&out, v)
	for _, line := range []string{"  since   42s ago or longer\n", "  program runs for 42s or longer\n", "  a program is killed after 5m0s at the latest (max_hold)\n"} {
		assert.Contains(t, out.String(), line)
	}
}

func TestEta_NobodyWaits_Said(t *testing.T) {
	var out bytes.Buffer
	printEta(&out, resourceView{Slots: []slotView{{Eta: &api.EtaStatus{P50S: 1, P95S: 2, Basis: "returns"}}}})
	assert.Contains(t, out.String(), "no program waits; if one asked now: about 1s")
}

// A program of a member that is cut off waits for the others. If the token is here, it waits for what the resource's sentence says.
func TestSentenceOf_CutOff_ResourcesWhereTokenIsHere(t *testing.T) {
	st := api.Status{Why: api.Why{Cause: explain.Isolated, Sentence: "isolated"}, Resources: []api.ResourceStatus{
		{Name: "here", Why: api.Why{Sentence: "the gate refuses"}, Slots: []api.SlotStatus{{Held: true}}},
		{Name: "away", Why: api.Why{Sentence: "token with m3"}, Slots: []api.SlotStatus{{}}},
	}}
	assert.Equal(t, ": the gate refuses", sentenceOf(&st, "here"))
	assert.Equal(t, ": isolated", sentenceOf(&st, "away"))
	st.Cause = explain.OK
	assert.Equal(t, ": token with m3", sentenceOf(&st, "away"))
	assert.Empty(t, sentenceOf(&st, "none"))
}

// Every command that asks a daemon that has ended for good names the section, not only wander status.
func TestDaemonCommands_MemberLeft_HintNamesSection(t *testing.T) {
	dir := t.TempDir()
	word := fmt.Sprintf(`{"at":"2026-11-29T10:32:18Z","cause":%q,"message":"this member has left the group"}`, explain.Left)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ended.json"), []byte(word), 0o600))
	for _, command := range []string{"status", "members", "who tape", "eta tape"} {
		code, _, errs := runCommand("", append(strings.Fields(command), "--socket", filepath.Join(dir, api.SocketName))...)
		assert.Equal(t, cli.ExitUnavailable, code, command)
		assert.Contains(t, errs, "hint: wander help left says what to do", command)
	}
}

// A member that is cut off misses the token: what it knew of turns before predicts nothing.
func TestEta_TokenMissing_NoPrediction(t *testing.T) {
	v := resourceView{Why: api.Why{Sentence: "the token is missing"}, Slots: []slotView{
		{Holder: &api.HolderStatus{Name: "m3", How: api.Said}, Search: &api.SearchStatus{Stage: "asking"}, Eta: &api.EtaStatus{P95S: 1.2, Basis: "order"}},
	}}
	for v.Waiting = range 2 {
		var out bytes.Buffer
		printEta(&out, v)
		assert.Equal(t, "unknown: the token is missing\n", out.String())
	}
}
