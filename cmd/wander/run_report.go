package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/wandertoken/wander/cmd/wander/internal/supervise"
)

// outcome says how `wander run` ended, where exit codes can mean two things.
type outcome string

// The command ran with the first five; it did not with the others.
const (
	outcomeCompleted     outcome = "completed" // under a grant to its end
	outcomeDeadline      outcome = "deadline"  // stopped at the grant's deadline
	outcomeLost          outcome = "lost"      // stopped because the grant was lost
	outcomeUnguarded     outcome = "unguarded" // stopped because its guards were killed
	outcomeWithoutGrant  outcome = "ran_without_grant"
	outcomeNotGranted    outcome = "not_granted"
	outcomeNotDue        outcome = "not_due" // --once-per
	outcomeHeld          outcome = "held"    // a run of the resource within its own run
	outcomeInterrupted   outcome = "interrupted"
	outcomeUnavailable   outcome = "unavailable"
	outcomeIsolated      outcome = "isolated"
	outcomeRevoked       outcome = "revoked"
	outcomeRefused       outcome = "refused"
	outcomeNotFound      outcome = "not_found"
	outcomeNotExecutable outcome = "not_executable"
	outcomeDryRun        outcome = "dry_run"
	outcomeError         outcome = "error"
)

// runReport is the object of --report.
type runReport struct {
	V        int     `json:"v"`
	Resource string  `json:"resource"`
	Outcome  outcome `json:"outcome"`
	Exit     *int    `json:"exit"`   // the command's own; null when it did not exit
	Signal   *int    `json:"signal"` // that ended the command; null when none did
	WaitedS  float64 `json:"waited_s"`
	HeldS    float64 `json:"held_s"`
	Fence    *uint64 `json:"fence,string"` // null without a grant
	// GateFence is the number of the session at the resource's gate; absent without one.
	GateFence *uint64 `json:"gate_fence,string,omitempty"`
	// Gate is why the resource's gate has opened no session; absent if it has, or if there is none.
	Gate string `json:"gate,omitempty"`
}

// ended takes in how the command ended.
func (r *runReport) ended(result supervise.Result) {
	if result.Signal != 0 {
		n := int(result.Signal)
		r.Signal = &n
		return
	}
	if result.Exit >= 0 {
		r.Exit = &result.Exit
	}
}

// reportFile is where the report goes; nil is nowhere.
type reportFile struct{ file *os.File }

// openReport opens the place before anything is waited for: a path that cannot
// be written should not cost a turn.
func openReport(to string) (*reportFile, error) {
	if to == "" {
		return nil, nil
	}
	if to == "-" {
		to = "fd:1"
	}
	number, isFD := strings.CutPrefix(to, "fd:")
	if !isFD {
		file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		return &reportFile{file}, err
	}
	fd, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: to, Err: os.ErrInvalid}
	}
	file := os.NewFile(uintptr(fd), to)
	if _, err := file.Stat(); err != nil {
		return nil, err
	}
	if fd > 2 { // whoever reads up to the end must not wait for the command's children
		keepFromChildren(file)
	}
	return &reportFile{file}, nil
}

func (f *reportFile) write(r runReport) error {
	if f == nil {
		return nil
	}
	defer f.file.Close()
	return json.NewEncoder(f.file).Encode(r)
}
