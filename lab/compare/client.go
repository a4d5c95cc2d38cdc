package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// clientCommand makes the program a client in its machine.
const clientCommand = "client"

// startTime is how long a server or client may take to start, with a path of 100 ms there and back, on a busy machine.
const startTime = time.Minute

// role is what a client is told, as JSON in its argument.
type role struct {
	Subject string
	Servers []string // host:port
	Socket  string   // of wander's daemon
	File    string   // of flock
	Wander  string   // the program, to hold the lock under wander run; empty: the client library
}

// The orders of a client, one a line.
const (
	acquire = "acquire"
	release = "release"
)

// answer is what a client says of an order, as JSON: when it began and ended, by the clock that all processes share.
type answer struct {
	Begin, End time.Duration
	Error      string
}

func (a answer) took() time.Duration { return a.End - a.Begin }

// now is CLOCK_MONOTONIC.
func now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// runClient obeys orders until in ends. It says when it is ready.
func runClient(args []string, in io.Reader, out io.Writer) error {
	var r role
	if len(args) != 1 {
		return errors.New("a client wants one argument")
	}
	if err := json.Unmarshal([]byte(args[0]), &r); err != nil {
		return err
	}
	s, err := find(r.Subject)
	if err != nil {
		return err
	}
	lock, err := s.open(r)
	if err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(answer{}); err != nil {
		return err
	}
	orders := bufio.NewScanner(in)
	for orders.Scan() {
		a := answer{Begin: now()}
		if orders.Text() == acquire {
			err = lock.Acquire(context.Background())
		} else {
			err = lock.Release()
		}
		a.End = now()
		if err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
	return orders.Err()
}

// client is such a process, seen from the one that measures.
type client struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed when the process has ended
}

// client starts one in a place.
func (c *cluster) client(place int) (*client, error) { return c.play(place, c.role(c, place)) }

func (c *cluster) play(place int, r role) (*client, error) {
	r.Subject = c.name
	argument, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	k := &client{cmd: c.machines[place].command(program, clientCommand, string(argument)), answers: make(chan answer, 1)}
	k.cmd.Stderr = os.Stderr
	if k.in, err = k.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := k.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(k.answers)
		for d := json.NewDecoder(out); ; {
			var a answer
			if d.Decode(&a) != nil {
				return
			}
			k.answers <- a
		}
	}()
	if _, err := k.answer(startTime); err != nil {
		k.kill()
		return nil, fmt.Errorf("%s: the client in place %d did not start: %w", c.name, place, err)
	}
	return k, nil
}

// ask gives an order, which is answered later.
func (k *client) ask(order string) error {
	_, err := fmt.Fprintln(k.in, order)
	return err
}

// answer waits for the answer to an order.
func (k *client) answer(limit time.Duration) (answer, error) {
	select {
	case a, ok := <-k.answers:
		switch {
		case !ok:
			return a, errors.New("the client has ended")
		case a.Error != "":
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-time.After(limit):
		return answer{}, fmt.Errorf("no answer within %v", limit)
	}
}

// do gives an order and waits for its end.
func (k *client) do(order string) (answer, error) {
	if err := k.ask(order); err != nil {
		return answer{}, err
	}
	return k.answer(startTime)
}

// kill is kill -9.
func (k *client) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.in.Close()
	_ = k.cmd.Wait()
}
