package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/whole"
)

// asProgram in the environment makes the test binary the program: a job file starts it.
const asProgram = "WANDER_LAB_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// task runs a command line as a task of a job array would.
func task(variable string, number int, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	env := &cli.Environment{In: strings.NewReader(""), Out: &o, Err: &e, Now: time.Now, Getenv: func(name string) string {
		if name == variable {
			return fmt.Sprint(number)
		}
		return ""
	}}
	code = run(env, args)
	return code, o.String(), e.String()
}

// spans are the times in what run prints, which differ in each run.
var spans = regexp.MustCompile(`(the runs of one seed took) .*`)

// filesIn are all files of a folder with their bytes.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

// The merge prints, writes and exits as the unsplit job does, whatever the number of shards.
func TestMerge_AllShards_IsTheWhole(t *testing.T) {
	scenario := filepath.Join(t.TempDir(), "small.toml")
	require.NoError(t, os.WriteFile(scenario, []byte(smallScenario), 0o600))
	for name, c := range map[string]struct {
		job    string
		merge  string // further arguments of the whole job and of the merge; DIR is a folder of its own
		code   int
		shards []int
	}{
		"run":               {"run slides-setup journal-removal ring-worst --seeds 3", "--out DIR", 0, []int{1, 2, 5}},
		"run, as JSON":      {"run journal-removal --seeds 2 --first 9", "--output json", 0, []int{3}},
		"goals":             {"run beyond-many-coldstart --seeds 1", "", 0, []int{2}},
		"sweep":             {"sweep journal-removal --seeds 2", "--out DIR", 0, []int{3}},
		"sweep, as JSON":    {"sweep ring-worst --seeds 1", "--output json", 0, []int{2}},
		"scenario":          {"scenario " + scenario + " --seeds 3", "", 0, []int{2}},
		"scenario, as JSON": {"scenario " + scenario + " --seeds 3", "--output json", 0, []int{2}},
		"cluster":           {"cluster --seeds 4 --first 17 -j 1 --virtual 2s --members 3", "--lines DIR/lines", 0, []int{2}},
		"cluster that fails": {
			"cluster --seeds 5 -j 1 --mix durable --bug send-first --no-shrink", "--lines DIR/lines --output json", cli.ExitFailure, []int{3},
		},
		"cluster that shrinks": {"cluster --seeds 2 --first 1 -j 1 --bug forget-held --virtual 3s --members 3", "", cli.ExitFailure, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "goals" {
				whole.Only(t) // half a minute of a processor
			}
			words := strings.Fields(c.job)
			into := func(dir string) []string { return strings.Fields(strings.ReplaceAll(c.merge, "DIR", dir)) }
			unsplit := t.TempDir()
			code, out, errs := runCommand("", append(words, into(unsplit)...)...)
			require.Equal(t, c.code, code, errs)
			for _, n := range c.shards {
				parts, merged := t.TempDir(), t.TempDir()
				for i := range n {
					code, _, partErrs := runCommand("", append(words, "--shard", fmt.Sprintf("%d/%d", i+1, n), "--shards", parts)...)
					require.Zero(t, code, partErrs)
				}
				code, mergedOut, mergedErrs := runCommand("", append([]string{"merge", parts}, into(merged)...)...)
				require.Equal(t, c.code, code, mergedErrs)
				mergedOut = strings.ReplaceAll(mergedOut, merged, unsplit)
				require.Equal(t, spans.ReplaceAllString(out, "$1"), spans.ReplaceAllString(mergedOut, "$1"))
				require.Equal(t, errs, mergedErrs)
				require.Equal(t, filesIn(t, unsplit), filesIn(t, merged))
			}
		})
	}
}

// The merge names what fails, and says what to do.
func TestMerge_IncompleteOrMixed_Refused(t *testing.T) {
	shardOf := func(t *testing.T, dir string, args ...string) {
		code, _, errs := runCommand("", append(args, "--shards", dir)...)
		require.Zero(t, code, errs)
	}
	edit := func(t *testing.T, file, old, text string) {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(data), old, text, 1)), 0o600))
	}
	const job = "run slides-setup --seeds 2"
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want []string
	}{
		"nothing there": {func(*testing.T, string) {}, []string{"contains no shard", "hint: --shard and --shards"}},
		"some missing": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 2/6")...)
			shardOf(t, dir, strings.Fields(job+" --shard 6/6")...)
		}, []string{"error: shards 1, 3 to 5 of 6 are missing", "hint: wander-lab run slides-setup --first 1 --seeds 2 --shard 1/6 --shards "}},
		"one missing, of cluster": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields("cluster --seeds 2 --mix durable --virtual 2s --members 2 --faults cut=none --no-shrink --unguarded --shard 1/2")...)
		}, []string{
			"error: shard 2 of 2 is missing",
			"hint: wander-lab cluster --first 0 --seeds 2 --preset chaos --mix durable --members 2 --virtual 2s --faults cut=none --bug none --unguarded --no-shrink --shard 2/2 ",
		}},
		"other arguments": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 1/2")...)
			other := t.TempDir()
			shardOf(t, other, strings.Fields("run slides-setup --seeds 3 --shard 2/2")...)
			require.NoError(t, os.Rename(filepath.Join(other, "shard-2-of-2.jsonl"), filepath.Join(dir, "shard-2-of-2.jsonl")))
		}, []string{"shard-2-of-2.jsonl has other arguments", "hint: give each job a folder of its own"}},
		"another split": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 1/2")...)
			shardOf(t, dir, strings.Fields(job+" --shard 1/3")...)
		}, []string{"shard-1-of-3.jsonl is shard 1/3"}},
		"another program made one": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 1/2")...)
			shardOf(t, dir, strings.Fields(job+" --shard 2/2")...)
			edit(t, filepath.Join(dir, "shard-2-of-2.jsonl"), `"program":"`, `"program":"0`)
		}, []string{"another program made", "shard-2-of-2.jsonl"}},
		"another program made all": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 1/1")...)
			edit(t, filepath.Join(dir, "shard-1-of-1.jsonl"), `"program":"`, `"program":"0`)
		}, []string{"another program made these shards", "hint: merge with the same file that made them"}},
		"cut short": {func(t *testing.T, dir string) {
			shardOf(t, dir, strings.Fields(job+" --shard 1/1")...)
			edit(t, filepath.Join(dir, "shard-1-of-1.jsonl"), `{"records":0}`, "")
		}, []string{"not a whole shard", "hint: delete the file and make the shard again"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			code, out, errs := runCommand("", "merge", dir)
			assert.Equal(t, cli.ExitFailure, code)
			assert.Empty(t, out)
			for _, want := range c.want {
				assert.Contains(t, errs, want)
			}
		})
	}
	code, _, errs := runCommand("", "merge", filepath.Join(t.TempDir(), "none"))
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, errs, "none")
}

// A shard that is there is not made again, and one of another job is not replaced.
func TestShard_There_Kept(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := runCommand("", "run", "slides-setup", "--seeds", "2", "--shard", "1/2", "--shards", dir)
	require.Zero(t, code, errs)
	assert.Contains(t, out, "shard-1-of-2.jsonl: 0 runs\n")
	before := filesIn(t, dir)
	code, out, _ = runCommand("", "run", "slides-setup", "--seeds", "2", "--shard", "1/2", "--shards", dir)
	assert.Zero(t, code)
	assert.Contains(t, out, "shard 1/2 is in "+dir+" already\n")
	code, _, errs = runCommand("", "run", "slides-setup", "--seeds", "3", "--shard", "1/2", "--shards", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Contains(t, errs, "has other arguments")
	assert.Equal(t, before, filesIn(t, dir))
}

// Ctrl-C leaves nothing, neither a file nor a folder.
func TestShard_Interrupted_LeavesNothing(t *testing.T) {
	for name, args := range map[string][]string{
		"run":     {"run", "journal-fig2", "--seeds", "10000"},
		"cluster": {"cluster", "--seeds", "1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, out, errs := runInterrupted(t, "", append(args, "--shard", "1/2", "--shards", filepath.Join(dir, "new"))...)
			assert.Equal(t, 130, code)
			assert.Empty(t, out)
			assert.Equal(t, "error: interrupted before anything was written\n", errs)
			assert.NoDirExists(t, filepath.Join(dir, "new"))
		})
	}
}

func TestShard_Mistakes_Refused(t *testing.T) {
	for args, want := range map[string]string{
		"run slides-setup --shard 1/2":                          "--shard and --shards require each other",
		"sweep ring-worst --shards DIR":                         "--shard and --shards require each other",
		"run slides-setup --shard 3/2 --shards DIR":             `not a shard: "3" of 2: must be 1 to 2`,
		"run slides-setup --shard 0/2 --shards DIR":             `"0" of 2: must be 1 to 2`,
		"run slides-setup --shard 1 --shards DIR":               `"1": must be I/N or task/N`,
		"run slides-setup --shard 1/0 --shards DIR":             `must be I/N or task/N, where N is 1 to 10000`,
		"run slides-setup --shard task/2 --shards DIR":          "not a task of a job array: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set",
		"run slides-setup --shard 1/2 --shards DIR --out DIR":   "--out cannot be combined with --shard: give it to wander-lab merge",
		"cluster --shard 1/2 --shards DIR --lines DIR/l":        "--lines cannot be combined with --shard",
		"cluster --shard 1/2 --shards DIR --seed 3":             "--seed cannot be combined with --shard",
		"cluster --shard 1/2 --shards DIR --for 3s":             "--for cannot be combined with --shard",
		"scenario nowhere.toml --shard 1/2 --shards DIR --jobs": "unknown flag: --jobs",
	} {
		code, out, errs := runCommand("", strings.Fields(strings.ReplaceAll(args, "DIR", t.TempDir()))...)
		assert.Equal(t, cli.ExitUsage, code, args)
		assert.Empty(t, out, args)
		assert.Contains(t, errs, want, args)
	}
	code, _, errs := task("JOB_COMPLETION_INDEX", 2, "run", "slides-setup", "--shard", "task/2", "--shards", t.TempDir())
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, `"3" of 2: must be 1 to 2`)

	dir := t.TempDir()
	code, _, errs = runCommand("", "cluster", "--seeds", "1", "--virtual", "1s", "--members", "2", "--shard", "1/1", "--shards", dir)
	require.Zero(t, code, errs)
	code, _, errs = runCommand("", "merge", dir, "--out", t.TempDir())
	assert.Equal(t, cli.ExitUsage, code)
	assert.Contains(t, errs, "--out: these are shards of cluster")
}

// jobFiles is where the files for job arrays are.
const jobFiles = "../../lab/jobs"

// sameAsWhole holds a folder of shards to the unsplit job.
func sameAsWhole(t *testing.T, dir string, job ...string) {
	t.Helper()
	_, unsplit, _ := runCommand("", job...)
	code, merged, errs := runCommand("", "merge", dir)
	require.Zero(t, code, errs)
	assert.Equal(t, unsplit, merged)
}

// The script of a Slurm array makes the shards, each with its SLURM_ARRAY_TASK_ID.
func TestJobFiles_Slurm_MakeTheShards(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Slurm's scripts are those of Unix")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "parts")
	job := []string{"run", "slides-setup", "journal-removal", "--seeds", "2"}
	for i := range 3 {
		cmd := exec.Command("sh", append([]string{jobFiles + "/slurm.sh", "3", dir}, job...)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "WANDER_LAB="+self, fmt.Sprint("SLURM_ARRAY_TASK_ID=", i+1))
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, string(text))
	}
	sameAsWhole(t, dir, job...)
}

// manifest is what the test reads of a Kubernetes object.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Suspend                  bool
		Template                 struct {
			Spec struct {
				RestartPolicy string `yaml:"restartPolicy"`
				Containers    []struct {
					Image        string
					Args         []string
					VolumeMounts []struct{ Name, MountPath string } `yaml:"volumeMounts"`
				}
			}
		}
	}
}

// The indexed Job of Kubernetes makes the shards, each with its JOB_COMPLETION_INDEX, and the other one merges them.
func TestJobFiles_Kubernetes_MakeTheShards(t *testing.T) {
	file, err := os.Open(jobFiles + "/kubernetes.yaml")
	require.NoError(t, err)
	defer file.Close()
	jobs := map[string]manifest{}
	for d := yaml.NewDecoder(file); ; {
		var m manifest
		err := d.Decode(&m)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		jobs[m.Metadata.Name] = m
	}
	shards, merge := jobs["wander-lab-shards"].Spec, jobs["wander-lab-merge"].Spec
	assert.Equal(t, "Indexed", shards.CompletionMode)
	assert.Equal(t, shards.Completions, shards.Parallelism)
	assert.Equal(t, "PersistentVolumeClaim", jobs["wander-lab"].Kind)
	assert.True(t, merge.Suspend)
	dir := t.TempDir()
	args := func(m manifest) (args []string) {
		c := m.Spec.Template.Spec.Containers[0]
		assert.Equal(t, "Never", m.Spec.Template.Spec.RestartPolicy)
		for _, a := range c.Args {
			args = append(args, strings.Replace(a, "/shards/", dir+"/", 1))
		}
		return args
	}
	words := strings.Join(args(jobs["wander-lab-shards"]), " ")
	require.Contains(t, words, "run all --seeds 40 ")
	words = strings.Replace(words, "run all --seeds 40", "run slides-setup journal-removal --seeds 2", 1) // it takes hours
	for i := range shards.Completions {
		code, _, errs := task("JOB_COMPLETION_INDEX", i, strings.Fields(words)...)
		require.Zero(t, code, errs)
	}
	sameAsWhole(t, filepath.Join(dir, "parts"), "run", "slides-setup", "journal-removal", "--seeds", "2")
	code, _, errs := runCommand("", args(jobs["wander-lab-merge"])...)
	require.Zero(t, code, errs)
	assert.FileExists(t, filepath.Join(dir, "docs", "reproduction.md"))
}

// Runs that fail stand in the shards, and the merge fails as the unsplit job does: a line of a shard that says so.
func TestMerge_FailedRun_FailsLikeTheWhole(t *testing.T) {
	dir := t.TempDir()
	for _, part := range []string{"1/2", "2/2"} {
		code, _, errs := runCommand("", "run", "journal-removal", "--seeds", "2", "--shard", part, "--shards", dir)
		require.Zero(t, code, errs)
	}
	name := filepath.Join(dir, "shard-2-of-2.jsonl")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	var record map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &record))
	delete(record, "value")
	record["failure"] = "boom"
	broken, err := json.Marshal(record)
	require.NoError(t, err)
	lines[1] = string(broken) + "\n"
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "")), fs.FileMode(0o600)))
	code, out, errs := runCommand("", "merge", dir)
	assert.Equal(t, cli.ExitFailure, code)
	assert.Empty(t, out)
	assert.Equal(t, "error: journal-removal: seed 2: boom\n", errs)
}
