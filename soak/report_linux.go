package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/record"
	"github.com/wandertoken/wander/soak/rig"
)

// auditWithin is how long an audit may take.
const auditWithin = 90 * time.Second

// report is the file of the result.
type report struct {
	V        int             `json:"v"`
	Plan     string          `json:"plan"`
	Seed     uint64          `json:"seed"`
	Members  int             `json:"members"`
	For      string          `json:"for"`
	After    string          `json:"interrupted_after,omitempty"`
	Faults   map[string]int  `json:"faults"`
	Skipped  int             `json:"skipped"` // faults for which nobody was left
	Packets  uint64          `json:"packets"`
	Bytes    uint64          `json:"bytes"`
	Verdicts []judge.Verdict `json:"verdicts"`
}

// tell writes the report.
func (r *run) tell(list []judge.Verdict) (int, error) {
	packets, size := r.world.Network.Traffic()
	after := ""
	if r.early {
		after = r.ended.Sub(r.began).Round(time.Second).String()
	}
	text, err := json.MarshalIndent(report{
		V: 1, After: after, Plan: r.plan.Name, Seed: r.plan.Seed, Members: len(r.plan.Members), For: r.plan.For.String(), Faults: r.done, Skipped: r.skipped,
		Packets: packets, Bytes: size, Verdicts: list,
	}, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, reportFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return exitFailure, err
	}
	fmt.Printf("plan %s, seed %d: %d members for %v", r.plan.Name, r.plan.Seed, len(r.plan.Members), r.plan.For)
	if r.early {
		fmt.Printf(", interrupted after %s", after)
	}
	fmt.Printf("\nfaults:")
	for _, fault := range slices.Sorted(maps.Keys(r.done)) {
		fmt.Printf(" %s %d,", fault, r.done[fault])
	}
	fmt.Printf(" skipped %d\n", r.skipped)
	return conclude(list, r.Timing)
}

// conclude shows the verdicts and returns the exit code.
func conclude(list []judge.Verdict, timing bool) (int, error) {
	judge.Text(os.Stdout, list)
	if judge.Broken(list, timing) {
		return exitBroken, errors.New("a verdict is broken")
	}
	return exitOK, nil
}

// judgeAgain judges a run from its files, with new audits.
func judgeAgain(o options) (int, error) {
	var e judge.Evidence
	text, err := os.ReadFile(filepath.Join(o.Again, evidenceFile))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return exitFailure, fmt.Errorf("%w; -judge takes the folder of a run that came to its end, or to its first audit", err)
	}
	if e.Runs, err = programsOf(o.Again); err != nil {
		return exitFailure, err
	}
	program := o.Wander
	if program == "" {
		program = filepath.Join(o.Again, "wander")
	}
	for i := range e.Audits {
		if e.Audits[i].Audit, err = auditOf(program, o.Again, e.Audits[i].Name); err != nil {
			return exitFailure, err
		}
	}
	return conclude(judge.Judge(e), o.Timing)
}

// programsOf are the programs of a run's log. One that is not gone ran to the
// log's end.
func programsOf(dir string) ([]judge.Run, error) {
	file, err := os.Open(filepath.Join(dir, logFile))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := record.Read(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	var last clock.Instant
	for _, r := range records {
		last = max(last, r.At)
	}
	return judge.Runs(records, last)
}

// auditOf audits the copies of the journals that were made under a name. The
// report is put beside them.
func auditOf(program, dir, name string) (judge.Audit, error) {
	return rig.Audit(program, filepath.Join(dir, "ca", "group.crt"), filepath.Join(dir, auditsFolder, name), auditWithin)
}
