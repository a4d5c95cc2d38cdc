package shard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Part is one part of a job: number Index of Of, counted from 1. The zero value is no part.
type Part struct {
	Index int `json:"shard"`
	Of    int `json:"of"`
}

// maxParts bounds the parts of a job: as many as there are seeds at most, each a file.
const maxParts = 10_000

// The variables in which job arrays tell a task its number.
const (
	slurmTask      = "SLURM_ARRAY_TASK_ID"  // the script counts from 1
	kubernetesTask = "JOB_COMPLETION_INDEX" // counted from 0
)

// task stands for the number of the task of a job array.
const task = "task"

// Errors about the text of a part.
var (
	ErrPart = errors.New("not a shard")
	ErrTask = errors.New("not a task of a job array")
)

// Parse reads a part such as "3/8". In "task/8" the number is that of this task of a job array, as getenv tells it. Errors:
// ErrPart, ErrTask.
func Parse(text string, getenv func(string) string) (Part, error) {
	index, of, found := strings.Cut(text, "/")
	n, err := strconv.Atoi(of)
	if !found || err != nil || n < 1 || n > maxParts {
		return Part{}, fmt.Errorf("%w: %q: must be I/N or task/N, where N is 1 to %d", ErrPart, text, maxParts)
	}
	if index == task {
		if index, err = taskNumber(getenv); err != nil {
			return Part{}, err
		}
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 1 || i > n {
		return Part{}, fmt.Errorf("%w: %q of %d: must be 1 to %d", ErrPart, index, n, n)
	}
	return Part{i, n}, nil
}

// taskNumber is the number of this task, counted from 1.
func taskNumber(getenv func(string) string) (string, error) {
	if number := getenv(slurmTask); number != "" {
		return number, nil
	}
	number := getenv(kubernetesTask)
	if number == "" {
		return "", fmt.Errorf("%w: neither %s nor %s is set", ErrTask, slurmTask, kubernetesTask)
	}
	i, err := strconv.Atoi(number)
	if err != nil {
		return "", fmt.Errorf("%w: %s is %q", ErrTask, kubernetesTask, number)
	}
	return strconv.Itoa(i + 1), nil
}

// String is the part as Parse reads it.
func (p Part) String() string { return fmt.Sprintf("%d/%d", p.Index, p.Of) }

// Has reports whether the part has this run of the job, counted from 0. Parts take turns, so that each has as many as another,
// or one less.
func (p Part) Has(run int) bool { return run%p.Of == p.Index-1 }

// file is the name of the part's file.
func (p Part) file() string { return fmt.Sprintf("shard-%d-of-%d.jsonl", p.Index, p.Of) }
