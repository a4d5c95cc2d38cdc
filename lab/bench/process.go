package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// process is one of the two processes of a measurement, seen from the one that
// measures.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *json.Decoder
	address string
}

// start runs this program again, in a role, and waits until it is ready.
func start(r role) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(program, childCommand, string(argument))}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.answers = json.NewDecoder(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	s, err := p.answer()
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s %s did not start: %w", r.Subject, r.Name, err)
	}
	p.address = s.Address
	return p, nil
}

func (p *process) sample() (sample, error) {
	if _, err := fmt.Fprintln(p.in); err != nil {
		return sample{}, err
	}
	return p.answer()
}

func (p *process) answer() (s sample, err error) {
	err = p.answers.Decode(&s)
	return s, err
}

// stop ends the process, which ends with its input.
func (p *process) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// pair are the two processes of a measurement.
type pair [2]*process

// startPair starts the one that listens, then the one that dials and begins.
func startPair(first, second role) (pair, error) {
	var p pair
	var err error
	if p[0], err = start(first); err != nil {
		return p, err
	}
	second.Peer = p[0].address
	if p[1], err = start(second); err != nil {
		p[0].stop()
	}
	return p, err
}

// sample adds up what both have done.
func (p pair) sample() (sum sample, err error) {
	for _, q := range p {
		s, err := q.sample()
		if err != nil {
			return sum, err
		}
		sum.At = s.At
		sum.CPU += s.CPU
		sum.Handoffs += s.Handoffs
		sum.Syncs += s.Syncs
	}
	return sum, nil
}

// freeze holds both; thaw lets them go on.
func (p pair) freeze() error { return p.each(stopProcess) }
func (p pair) thaw() error   { return p.each(continueProcess) }

func (p pair) each(f func(*os.Process) error) error {
	for _, q := range p {
		if err := f(q.cmd.Process); err != nil {
			return err
		}
	}
	return nil
}

// stop ends both, also while they are held.
func (p pair) stop() {
	_ = p.thaw()
	for _, q := range p {
		q.stop()
	}
}
