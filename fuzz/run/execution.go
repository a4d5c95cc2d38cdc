package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/fuzz/memory"
)

const (
	// hangAfter is how long a target may show no progress: an input takes
	// milliseconds, and what takes minutes is a finding.
	hangAfter = 2 * time.Minute
	// minimizeTime bounds the search for a smaller input with the same effect,
	// which does not find anything new.
	minimizeTime = 5 * time.Second
	// keptOutput bounds what is remembered of a run's output.
	keptOutput = 64 << 10
)

// execution is one run of a test binary for one target.
type execution struct {
	binary, dir, name, amount, cache string
	parallel                         int
	remembers                        bool // its keys do, see package memory
}

// progress is a line of the engine of package testing.
var progress = regexp.MustCompile(`^fuzz: elapsed: \S+, (?:execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)|.*)`)

var crasher = regexp.MustCompile(`(?m)Failing input written to (testdata\S+)`)

// frugal spares processor time in a worker: an execution changes goroutines twice, and
// each time a second processor would look in vain for something to do.
const frugal = "GOMAXPROCS=1"

// run performs it and fills in the record. Output is shown when it failed.
func (e execution) run(ctx context.Context, r *record) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.Command(e.binary, "-test.run=^$", "-test.fuzz=^"+e.name+"$", "-test.fuzztime="+e.amount,
		"-test.parallel="+strconv.Itoa(e.parallel), "-test.fuzzcachedir="+e.cache,
		"-test.fuzzminimizetime="+minimizeTime.String())
	cmd.Dir, cmd.Env = e.dir, append(os.Environ(), frugal)
	if e.remembers {
		cmd.Env = append(cmd.Env, memory.Variable+"=1")
	}
	apart(cmd)
	output, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		r.Failure = err.Error()
		return
	}
	watchdog := time.AfterFunc(hangAfter, func() { cancel(errHang) })
	defer watchdog.Stop()
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			stop(cmd, context.Cause(ctx) == errHang)
		case <-ended:
		}
	}()
	text := make(chan []byte, 1)
	go func() { text <- follow(output, r, func() { watchdog.Reset(hangAfter) }) }()
	err := cmd.Wait()
	close(ended)
	write.Close()
	rest := <-text
	r.Seconds = time.Since(begun).Seconds()
	if s := cmd.ProcessState; s != nil {
		r.CPUSeconds = (s.UserTime() + s.SystemTime()).Seconds()
	}
	e.judge(r, err, context.Cause(ctx), rest)
}

var errHang = fmt.Errorf("no progress for %v: an input hangs", hangAfter)

// judge says in the record whether something was found.
func (e execution) judge(r *record, err, cause error, text []byte) {
	for _, found := range crasher.FindAllSubmatch(text, -1) {
		r.Crashers = append(r.Crashers, filepath.Join(e.dir, string(found[1])))
	}
	switch {
	case cause == errHang:
		r.Failure = errHang.Error()
	case err == nil || cause != nil && len(r.Crashers) == 0: // stopped by us
		return
	default:
		r.Failure = err.Error()
	}
	os.Stderr.Write(text)
}

// follow reads a run's output to its end: figures go to the record, all else is
// returned as far as it is kept.
func follow(output io.Reader, r *record, alive func()) []byte {
	var kept bytes.Buffer
	last := ""
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadString('\n')
		figures := progress.FindStringSubmatch(line)
		switch {
		case figures == nil:
			kept.WriteString(line[:min(len(line), keptOutput-min(keptOutput, kept.Len()))])
		case figures[1] != "":
			r.Executions, r.Interesting, r.Corpus = number(figures[1]), number(figures[2]), number(figures[3])
		}
		if _, what, _ := strings.Cut(line, ","); what != last || figures == nil {
			last = what
			alive()
		}
		if err != nil {
			return kept.Bytes()
		}
	}
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // digits only, and the engine counts in int64
	return n
}
