package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scratchModule has one target that finds a crasher at once, one that hangs and
// one that is right.
func scratchModule(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.org/fuzzed\n\ngo 1.26\n",
		"node/node.go": `package node

// Half is wrong for odd numbers.
func Half(b byte) byte {
	if b > 200 {
		return b
	}
	return b / 2
}
`,
		"node/node_test.go": `package node

import "testing"

func FuzzRight(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) { _ = Half(1) + Half(201) })
}

func FuzzWrong(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && Half(data[0]) == 1 {
			t.Fatal("found")
		}
	})
}
`,
		"node/testdata/fuzz/FuzzRight/seed": "go test fuzz v1\n[]byte(\"\")\n",
		"node/testdata/fuzz/FuzzWrong/seed": "go test fuzz v1\n[]byte(\"\\x06\")\n",
	}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	t.Chdir(dir)
}

func call(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = run(args, &o, &e)
	return code, o.String(), e.String()
}

// A search finds, says where, appends to its file, and goes on where it stopped.
func TestSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	scratchModule(t)
	args := []string{"-execs", "2000", "-out", "runs.jsonl", "-cache", "cache", "-parallel", "1"}
	code, out, errOut := call(append(args, "-targets", "Right", "-cover")...)
	require.Equal(t, exitOK, code, out+errOut)
	require.Contains(t, out, "example.org/fuzzed/node")
	records, _, err := load("runs.jsonl")
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.GreaterOrEqual(t, records[0].Executions, int64(2000))

	code, out, errOut = call(args...)
	require.Equal(t, exitFound, code, "%s%s", out, errOut)
	records, _, err = load("runs.jsonl")
	require.NoError(t, err)
	require.Len(t, records, 2, "the first target has had its share")
	require.Equal(t, "node/FuzzWrong", records[1].Target)
	require.Len(t, records[1].Crashers, 1)
	require.FileExists(t, records[1].Crashers[0])

	code, out, _ = call("-total", "runs.jsonl")
	require.Equal(t, exitFound, code)
	require.Contains(t, out, "all 2 targets")
	require.Contains(t, out, "100 %", "coverage of package node, by the profile beside the file")
}

// Targets run at the same time, each for its share, and one that finds something does
// not end the others; whoever is alone gets all workers.
func TestRun_SeveralAtOnce_EachDone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	scratchModule(t)
	args := []string{"-execs", "2000", "-out", "runs.jsonl", "-cache", "cache"}
	code, out, errOut := call(append(args, "-parallel", "2")...)
	require.Equal(t, exitFound, code, "%s%s", out, errOut)
	require.Contains(t, out, "all 2 targets")
	records, _, err := load("runs.jsonl")
	require.NoError(t, err)
	for _, r := range sums(records) {
		require.Equal(t, r.Target == "node/FuzzRight", r.Executions >= 2000 && r.Failure == "", r)
	}
	require.Equal(t, 1, records[0].Workers)

	code, out, errOut = call("-execs", "1000", "-parallel", "3", "-targets", "Right", "-cache", "cache", "-out", "other.jsonl")
	require.Equal(t, exitOK, code, "%s%s", out, errOut)
	records, _, err = load("other.jsonl")
	require.NoError(t, err)
	require.Equal(t, 3, records[0].Workers)
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-time", "1s", "-execs", "1"}, {"-time", "-1s"}, {"-execs", "1", "-parallel", "0"}, {"-targets", "("}, {"-time", "1s", "x"}, {"-help"},
	} {
		code, _, errOut := call(args...)
		require.Equal(t, exitUsage, code, args)
		require.NotEmpty(t, errOut, args)
	}
	code, _, errOut := call("-list", "-targets", "of-nowhere")
	require.Equal(t, exitFound, code)
	require.Contains(t, errOut, "-list")
	code, _, _ = call("-total", "not-there")
	require.Equal(t, exitFound, code)
}

func TestList(t *testing.T) {
	_, all, _ := call("-list")
	require.NotContains(t, all, "FuzzWrong", "it is in a string only")
	code, out, _ := call("-list", "-targets", "^fuzz/FuzzMessage$")
	require.Equal(t, exitOK, code)
	require.Equal(t, "fuzz/FuzzMessage\n", out)
}

// What an engine prints: figures of the last line count, the rest is kept, and an
// engine that only counts the time is not alive.
func TestFollow(t *testing.T) {
	const text = `fuzz: elapsed: 0s, gathering baseline coverage: 0/44 completed
fuzz: elapsed: 0s, gathering baseline coverage: 44/44 completed, now fuzzing with 2 workers
fuzz: elapsed: 3s, execs: 72767 (24252/sec), new interesting: 9 (total: 93)
fuzz: elapsed: 6s, execs: 72767 (0/sec), new interesting: 9 (total: 93)
fuzz: elapsed: 9s, execs: 72767 (0/sec), new interesting: 9 (total: 93)
    Failing input written to testdata/fuzz/FuzzX/0123456789abcdef
FAIL
`
	var r record
	alive := 0
	kept := follow(strings.NewReader(text), &r, func() { alive++ })
	require.Equal(t, record{Executions: 72767, Interesting: 9, Corpus: 93}, r)
	require.Equal(t, 7, alive, "all lines but the second and third of the same figures, and the end")
	execution{dir: "/p"}.judge(&r, os.ErrInvalid, nil, kept)
	require.Equal(t, []string{"/p/testdata/fuzz/FuzzX/0123456789abcdef"}, r.Crashers)
	require.NotEmpty(t, r.Failure)
}

// A run that is stopped is no failure, one that hangs is.
func TestJudge(t *testing.T) {
	var r record
	execution{}.judge(&r, os.ErrInvalid, os.ErrDeadlineExceeded, nil)
	require.Empty(t, r.Failure)
	execution{}.judge(&r, nil, errHang, nil)
	require.NotEmpty(t, r.Failure)
}

func TestSums(t *testing.T) {
	totals := sums([]record{
		{Target: "b", Commit: "1", Executions: 5, Seconds: 1, Corpus: 7, Interesting: 1},
		{Target: "a", Executions: 1, Failure: "it", Begun: time.Unix(1, 0)},
		{Target: "b", Commit: "1", Executions: 1},
		{Target: "b", Commit: "2", Executions: 5, Seconds: 2, Corpus: 8, Interesting: 2, Crashers: []string{"x"}},
	})
	require.Equal(t, []record{
		{Target: "a", Executions: 1, Failure: "it"},
		{Target: "b", Commit: "1 2", Executions: 11, Seconds: 3, Corpus: 8, Interesting: 3, Crashers: []string{"x"}},
	}, totals)
}

// A run that is killed while it writes leaves half a line: it is left out, and cut
// off before the next one is written.
func TestTornLine(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := `{"target":"a","executions":7}` + "\n"
	require.NoError(t, os.WriteFile("runs", []byte(whole+`{"target":"a","exec`), 0o666))
	code, out, _ := call("-total", "runs")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "the last line is not whole")
	s := search{options: &options{out: "runs"}, done: make(map[string]int64)}
	require.NoError(t, s.resume())
	require.Equal(t, map[string]int64{"a": 7}, s.done)
	text, err := os.ReadFile("runs")
	require.NoError(t, err)
	require.Equal(t, whole, string(text))
}

// A directive says of which packages a target is; one that says nothing that is
// there would leave it without guidance.
func TestDirective(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = `package p

// FuzzA is one.
//
//fuzz:of a b/...
//fuzz:of c
func FuzzA() {}

// FuzzB is another.
func FuzzB() {}
`
	require.NoError(t, os.WriteFile("a_test.go", []byte(text), 0o666))
	found, err := fuzzFunctions(pack{}, "a_test.go")
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, []string{"a", "b/...", "c"}, found[0].of)
	require.Empty(t, found[1].of)
	require.NoError(t, found[0].check([]pack{{ImportPath: "a"}, {ImportPath: "b/x"}, {ImportPath: "c"}}))
	require.ErrorIs(t, found[0].check([]pack{{ImportPath: "a"}, {ImportPath: "bx"}, {ImportPath: "c"}}), errDirective)
}

// Every target of this module has one.
func TestDirectives(t *testing.T) {
	targets, err := discover(t.Context(), regexp.MustCompile("."))
	require.NoError(t, err)
	for _, target := range targets {
		require.NotEmpty(t, target.of, "%v: say with //fuzz:of which packages it is of", target)
	}
}

func TestDamagedFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("runs", []byte("{}\n{\n"), 0o666))
	_, _, err := load("runs")
	require.ErrorContains(t, err, "line 2")
	for _, text := range []string{"mode: set\nx\n", "mode: set\na.go:1.1,2.2 x 1\n"} {
		require.NoError(t, os.WriteFile("profile", []byte(text), 0o666))
		_, err = loadProfile("profile")
		require.ErrorIs(t, err, errProfile)
	}
}
