package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// record is one run of one target, a line of the file.
type record struct {
	Target      string    `json:"target"`
	Commit      string    `json:"commit,omitempty"`
	Begun       time.Time `json:"begun"`
	Seconds     float64   `json:"seconds"`
	CPUSeconds  float64   `json:"cpu_seconds"` // of all processes of the run
	Workers     int       `json:"workers"`
	Executions  int64     `json:"executions"`
	Interesting int64     `json:"interesting"` // inputs that reached something new
	Corpus      int64     `json:"corpus"`      // inputs that are kept, at the end
	Crashers    []string  `json:"crashers,omitempty"`
	Failure     string    `json:"failure,omitempty"`
}

func (r record) rate() float64 { return float64(r.Executions) / max(r.Seconds, 1e-3) }

// cost is the processor time of one execution, in µs. Unlike the rate it does not
// depend on what else runs on the machine.
func (r record) cost() float64 { return r.CPUSeconds / float64(max(r.Executions, 1)) * 1e6 }

func (r record) String() string {
	line := fmt.Sprintf("%-34s %10d executions %8.0f/s %6.0f µs %5d new of %d", r.Target, r.Executions, r.rate(), r.cost(), r.Interesting, r.Corpus)
	if r.Failure != "" {
		line += "  FAILED: " + r.Failure
	}
	return strings.Join(append([]string{line}, r.Crashers...), "\n    ")
}

// appendTo adds the line to a file.
func (r record) appendTo(name string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Close()
}

// load reads all lines of a file. torn is the size of a last one that is not whole,
// which is left out: whoever wrote it was killed.
func load(name string) (records []record, torn int, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, 0, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if !bytes.HasSuffix(line, []byte("\n")) {
			return records, len(line), nil
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, 0, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		records = append(records, r)
	}
	return records, 0, nil
}

// sums adds up the runs of each target, in order of their names.
func sums(records []record) (totals []record) {
	index := make(map[string]int)
	for _, r := range records {
		i, ok := index[r.Target]
		if !ok {
			i = len(totals)
			index[r.Target], totals = i, append(totals, record{Target: r.Target})
		}
		t := &totals[i]
		t.Seconds += r.Seconds
		t.CPUSeconds += r.CPUSeconds
		t.Executions += r.Executions
		t.Interesting += r.Interesting
		t.Corpus = max(t.Corpus, r.Corpus)
		if !slices.Contains(strings.Fields(t.Commit), r.Commit) {
			t.Commit = strings.TrimSpace(t.Commit + " " + r.Commit)
		}
		t.Crashers = append(t.Crashers, r.Crashers...)
		if t.Failure == "" {
			t.Failure = r.Failure
		}
	}
	slices.SortFunc(totals, func(a, b record) int { return strings.Compare(a.Target, b.Target) })
	return totals
}

// table prints sums, the least and the sum of all last.
func table(out io.Writer, totals []record) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "executions\tper second\tcpu s\tcpu µs each\tnew inputs\tcorpus\tcrashers\tfailures\tcommits\t target")
	row := func(t record, failures int) {
		fmt.Fprintf(w, "%d\t%.0f\t%.0f\t%.0f\t%d\t%d\t%d\t%d\t%s\t %s\n",
			t.Executions, t.rate(), t.CPUSeconds, t.cost(), t.Interesting, t.Corpus, len(t.Crashers), failures, t.Commit, t.Target)
	}
	var all record
	failures, least := 0, totals[0].Executions
	for _, t := range totals {
		failed := 0
		if t.Failure != "" {
			failed = 1
		}
		row(t, failed)
		failures, least = failures+failed, min(least, t.Executions)
		all.Executions, all.Seconds = all.Executions+t.Executions, all.Seconds+t.Seconds
		all.CPUSeconds += t.CPUSeconds
		all.Interesting, all.Corpus = all.Interesting+t.Interesting, all.Corpus+t.Corpus
		all.Crashers = append(all.Crashers, t.Crashers...)
	}
	all.Target = fmt.Sprintf("all %d targets, each %d or more", len(totals), least)
	row(all, failures)
	w.Flush()
}

// printTotals is -total.
func printTotals(out io.Writer, name string) (clean bool, err error) {
	records, torn, err := load(name)
	if err != nil {
		return false, err
	}
	if torn > 0 {
		fmt.Fprintf(out, "%s: the last line is not whole and is left out: its run was killed\n\n", name)
	}
	if len(records) == 0 {
		return false, fmt.Errorf("%s: there are no runs in it", name)
	}
	totals := sums(records)
	table(out, totals)
	clean = !slices.ContainsFunc(totals, func(r record) bool { return r.Failure != "" })
	profile, err := loadProfile(name + ".cover")
	if err == nil {
		profile.print(out)
	}
	return clean, nil
}

// commitOf is the commit of the folder that we are in, with a + when files differ
// from it; empty when git cannot say.
func commitOf(ctx context.Context) string {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "-uno").Output()
	if err != nil || len(bytes.TrimSpace(changed)) > 0 {
		return strings.TrimSpace(string(commit)) + "+"
	}
	return strings.TrimSpace(string(commit))
}
