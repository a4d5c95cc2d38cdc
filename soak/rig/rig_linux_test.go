package rig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/record"
	"github.com/wandertoken/wander/soak/world"
)

// asRun, in the environment, makes the tests' program one that Inner serves.
const asRun = "RIG_TEST_RUN"

// order is what a run of these tests is told.
type order struct {
	Code int
	Fail string
}

func TestMain(m *testing.M) {
	if os.Getenv(asRun) != "" {
		Inner(func(o order) (int, error) {
			if o.Fail != "" {
				return o.Code, errors.New(o.Fail)
			}
			return o.Code, nil
		})
		os.Exit(99) // Inner returned
	}
	os.Exit(m.Run())
}

// inner runs this program as the one within the namespaces.
func inner(args ...string) (code int, out string) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), asRun+"=1")
	text, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(text)
}

func TestInner_Run_EndsWithItsCode(t *testing.T) {
	for _, c := range []struct {
		order string
		code  int
		says  string
	}{
		{`{"Code": 0}`, 0, ""},
		{`{"Code": 7}`, 7, ""},
		{`{"Code": 7, "Fail": "broken"}`, 7, "error: broken\n"},
		{`{"Code": 0, "Fail": "broken"}`, exitFailure, "error: broken\n"},
		{`{"Code": "x"}`, exitFailure, "error: json"},
	} {
		code, out := inner(runArg, c.order)
		assert.Equal(t, c.code, code, c.order)
		assert.True(t, strings.HasPrefix(out, c.says), out)
	}
}

func TestInner_OtherArguments_Returns(t *testing.T) {
	for _, args := range [][]string{nil, {"-kinds"}} {
		code, _ := inner(args...)
		assert.Equal(t, 99, code)
	}
	code, out := inner(ProbeArg, "too few")
	assert.Equal(t, exitFailure, code)
	assert.Contains(t, out, probe.ErrArguments.Error())
}

func TestFolder_Keep_EmptyOnly(t *testing.T) {
	dir, err := Folder("", "rig-")
	require.NoError(t, err)
	assert.DirExists(t, dir)
	require.NoError(t, os.Remove(dir))
	base := t.TempDir()
	keep := filepath.Join(base, "a", "b")
	for range 2 { // an empty folder may be there
		dir, err = Folder(keep, "rig-")
		require.NoError(t, err)
		assert.Equal(t, keep, dir)
		assert.DirExists(t, dir)
	}
	_, err = Folder(base, "rig-")
	assert.ErrorContains(t, err, "not empty")
}

func TestBuild_UnknownPackage_SaysTheHint(t *testing.T) {
	err := Build(filepath.Join(t.TempDir(), "x"), "no/such", "name the program")
	assert.ErrorContains(t, err, "building no/such")
	assert.ErrorContains(t, err, "; name the program")
}

func TestWander_Failure_SaysWhatItSaid(t *testing.T) {
	assert.NoError(t, Wander(script(t, "exit 0")))
	err := Wander(script(t, "echo no group >&2; exit 3"), "ca", "init")
	assert.ErrorContains(t, err, "wander ca init: exit status 3: no group")
}

// script is a program that stands for wander.
func script(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return name
}

// group is a group of two members without machines.
func group(t *testing.T, program string) *Group {
	g := &Group{Program: program, Folder: t.TempDir(), World: &world.World{}}
	for _, name := range []string{"m1", "m2"} {
		m := &world.Machine{Name: name, Dir: filepath.Join(g.Folder, name), Address: "10.0.0." + name[1:]}
		require.NoError(t, os.Mkdir(m.Dir, 0o700))
		g.World.Machines = append(g.World.Machines, m)
	}
	return g
}

func TestGroup_Files_ForTheAuthorityAndTheMembers(t *testing.T) {
	g := group(t, "")
	g.Program = script(t, `echo "$@" >>`+g.Folder+`/calls; mkdir -p `+g.Authority()+`; echo signed >`+g.Authority()+`/group.crt`)
	require.NoError(t, g.Init("test"))
	require.NoError(t, g.Configure("silence = \"4s\"\n"))
	require.NoError(t, g.Issue())
	require.NoError(t, g.Publish(g.World.Machines[1]))
	require.NoError(t, g.WriteMember(1, "volatile", []string{g.Address(0), "10.9.9.9:1"}))
	text := func(parts ...string) string {
		b, err := os.ReadFile(filepath.Join(append([]string{g.Folder}, parts...)...))
		require.NoError(t, err)
		return string(b)
	}
	ca := " --dir " + g.Authority()
	assert.Equal(t, "ca init"+ca+" --name test --no-passphrase\nca config"+ca+" "+g.Folder+"/group.toml\n"+
		"ca issue"+ca+" --name m1 --out "+g.Folder+"/m1/member\nca issue"+ca+" --name m2 --out "+g.Folder+"/m2/member\n", text("calls"))
	assert.Equal(t, "silence = \"4s\"\n", text("group.toml"))
	assert.Equal(t, "signed\n", text("m2", "group.crt"))
	assert.NoFileExists(t, filepath.Join(g.Folder, "m1", "group.crt"), "it is published to those that are named")
	settings := text("m2", "wander.toml")
	assert.Contains(t, settings, "mode = \"volatile\"\n")
	assert.Contains(t, settings, "address = \"10.0.0.2:4133\"\n")
	assert.Contains(t, settings, "peers = [\"10.0.0.1:4133\", \"10.9.9.9:1\"]\n")
}

func TestResource_Presets_NameTheirPolicy(t *testing.T) {
	g := group(t, "")
	for preset, says := range map[string][2]string{
		"fair":  {"policy = \"wandering\"\npreset = \"fair\"", "min_interval"},
		"light": {"policy = \"wandering\"\npreset = \"light\"", "min_interval"},
		"ring":  {"policy = \"ring\"\npreset = \"e\"", ""},
		"split": {"policy = \"multitoken\"\npreset = \"split\"", "target_interval"},
	} {
		text := g.Resource("x", preset, 300*time.Millisecond, 4*time.Second)
		assert.Contains(t, text, says[0], preset)
		assert.Contains(t, text, "operation_time = \"300ms\"\nmax_hold = \"4s\"\nmembers_max = 2\n", preset)
		assert.Contains(t, text, says[1], preset)
		assert.Equal(t, preset == "ring", strings.HasSuffix(text, "members_max = 2\n"), preset)
	}
}

func TestPrograms_Log_ReadAsFarAsItGoes(t *testing.T) {
	g := group(t, "")
	_, err := g.Programs(0)
	assert.ErrorIs(t, err, os.ErrNotExist)
	r := record.Record{Resource: "x", Member: "m1", PID: 1, Token: "t", Fence: 1, Born: 1}
	var log []byte
	for i, kind := range []record.Kind{record.Start, record.End} {
		r.Kind, r.At = kind, clock.Instant(i+1)*clock.Instant(time.Second)
		line, err := r.Line()
		require.NoError(t, err)
		log = append(log, line...)
	}
	require.NoError(t, os.WriteFile(g.log(), log, 0o600))
	runs, err := g.Programs(clock.Instant(time.Minute))
	require.NoError(t, err)
	require.Len(t, runs, 1)
	assert.Equal(t, "m1", runs[0].Member)
	require.NoError(t, os.WriteFile(g.log(), append(log, "torn"...), 0o600))
	runs, _ = g.Programs(clock.Instant(time.Minute))
	assert.Len(t, runs, 1, "what is complete counts")
}

func TestAudit_Findings_AreNoFailure(t *testing.T) {
	journals := t.TempDir()
	program := script(t, `echo '{"v": 2, "findings": [{"class": "proof", "kind": "fork", "accused": "m1", "members": ["m1"]}]}'; exit 70`)
	a, err := Audit(program, "group.crt", journals, time.Minute)
	require.NoError(t, err)
	require.Len(t, a.Findings, 1)
	assert.Equal(t, "m1", a.Findings[0].Accused)
	assert.FileExists(t, filepath.Join(journals, "audit.json"))
	_, err = Audit(script(t, "echo no such group >&2; exit 66"), "group.crt", journals, time.Minute)
	assert.ErrorContains(t, err, "no such group")
	_, err = Audit(filepath.Join(journals, "none"), "group.crt", journals, time.Minute)
	assert.Error(t, err)
}
