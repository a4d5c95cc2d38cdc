package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// pause is between two takes, so that a lock is at rest; waiting is before a hand-over, so that the other client waits in earnest. Both
	// grow with the delay: to begin to wait takes up to four round trips.
	pause       = 100 * time.Millisecond
	waiting     = 500 * time.Millisecond
	pauseDelays = 8
	// killLimit is how long a lock may be lost.
	killLimit = 2 * time.Minute
)

// takesAndHandovers measures all subjects at each delay, in turns.
func (p *plan) takesAndHandovers() error {
	for _, delay := range p.delays {
		p.net.delay.Store(0)
		couples := make(map[*cluster]*couple)
		for _, c := range p.clusters {
			k, err := c.couple()
			if err != nil {
				return err
			}
			defer k.stop()
			couples[c] = k
		}
		p.net.delay.Store(int64(delay))
		time.Sleep(pause)
		for round := range p.rounds {
			for _, c := range p.clusters {
				if c.subject == wanderReplaces { // it differs when a holder is lost, and not before
					continue
				}
				if err := couples[c].round(&p.collected, c.name, delay); err != nil {
					return fmt.Errorf("%s, delay %v, round %d: %w", c.name, delay, round, err)
				}
			}
		}
		for _, k := range couples {
			k.stop()
		}
		p.say("measured at a delay of %v", delay)
	}
	return nil
}

// couple is the two clients of a subject.
type couple [2]*client

func (c *cluster) couple() (*couple, error) {
	var k couple
	for i, place := range clientPlaces {
		var err error
		if k[i], err = c.client(place); err != nil {
			return nil, err
		}
	}
	return &k, nil
}

func (k *couple) stop() {
	for _, c := range k {
		c.kill()
	}
}

// round takes the lock at one client twice, then at the other one, and hands it over under contention, back and forth.
func (k *couple) round(f *figures, name string, delay time.Duration) error {
	a, b, rest := k[0], k[1], pause+pauseDelays*delay
	for _, take := range []struct {
		by   *client
		what string
	}{{a, ""}, {a, takeAgain}, {b, takeOther}, {a, takeOther}} {
		got, err := take.by.do(acquire)
		if err != nil {
			return err
		}
		if take.what != "" {
			f.add(take.what, name, delay, got.took())
		}
		if _, err := take.by.do(release); err != nil {
			return err
		}
		time.Sleep(rest)
	}
	if _, err := a.do(acquire); err != nil {
		return err
	}
	for _, what := range []string{handFirst, handNext} { // the holder took it when nobody waited, or had it by a hand-over itself
		if err := b.ask(acquire); err != nil {
			return err
		}
		time.Sleep(waiting + pauseDelays*delay)
		released, err := a.do(release)
		if err != nil {
			return err
		}
		got, err := b.answer(startTime)
		if err != nil {
			return err
		}
		f.add(what, name, delay, got.End-released.Begin)
		a, b = b, a
	}
	_, err := a.do(release)
	return err
}

// kills kills holders while another client waits: the client alone, and where a daemon holds the lock for it, that too.
func (p *plan) kills() error {
	for range p.crashes {
		for _, c := range p.clusters {
			holder := c.role(c, clientPlaces[0])
			if c.subject != wanderReplaces {
				if err := c.kill(&p.collected, killClient, holder, false); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
			if c.daemons == nil {
				continue
			}
			if err := c.kill(&p.collected, killMachine, holder, true); err != nil {
				return fmt.Errorf("%s, daemon too: %w", c.name, err)
			}
			if c.subject != wanderReplaces {
				holder.Wander = c.wander
				if err := c.kill(&p.collected, killRun, holder, false); err != nil {
					return fmt.Errorf("%s, wander run: %w", c.name, err)
				}
			}
		}
		p.say("killed a holder of each")
	}
	return nil
}

// kill takes the lock at one client, has another one wait, and kills the first with kill -9.
func (c *cluster) kill(f *figures, what string, holder role, daemonToo bool) error {
	var k couple
	var err error
	if k[0], err = c.play(clientPlaces[0], holder); err != nil {
		return err
	}
	if k[1], err = c.client(clientPlaces[1]); err != nil {
		return err
	}
	defer k.stop()
	if _, err := k[0].do(acquire); err != nil {
		return err
	}
	if err := k[1].ask(acquire); err != nil {
		return err
	}
	time.Sleep(time.Second)
	at := now()
	if daemonToo {
		d := c.daemons[clientPlaces[0]]
		_ = d.Process.Kill()
		defer func() { _ = c.daemon(clientPlaces[0], false) }()
	}
	k[0].kill()
	got, err := k[1].answer(killLimit)
	if err != nil {
		return err
	}
	f.add(what, c.name, 0, got.End-at)
	_, err = k[1].do(release)
	return err
}

// idles measures what servers, and two clients without demand, cost while nothing happens.
func (p *plan) idles() error {
	for _, c := range p.clusters {
		k, err := c.couple()
		if err != nil {
			return err
		}
		defer k.stop()
		c.processes = append(c.processes, k[0].cmd, k[1].cmd)
	}
	p.say("idle: settling for %v, measuring for %v", settleTime, p.idle)
	time.Sleep(settleTime)
	before := make(map[*cluster]cost)
	for _, c := range p.clusters {
		before[c] = c.cost()
	}
	time.Sleep(p.idle)
	for _, c := range p.clusters {
		after, seconds := c.cost(), p.idle.Seconds()
		f, b := &p.collected, before[c]
		f.rate(idleCPU, c.name, float64(after.cpu-b.cpu)/1e6/seconds)
		f.rate(idleSwitches, c.name, float64(after.switches-b.switches)/seconds)
		f.rate(idleBytes, c.name, float64(after.bytes-b.bytes)/seconds)
		f.rate(idleMemory, c.name, float64(after.memory)/1e6)
	}
	return nil
}

// cost is what the processes of a cluster have used up so far.
type cost struct {
	cpu      int64 // nanoseconds
	switches int64
	bytes    int64 // sent between machines
	memory   int64 // bytes that are resident now
}

func (c *cluster) cost() (sum cost) {
	for _, m := range c.machines {
		sum.bytes += m.sent.Load()
	}
	for _, p := range c.processes {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.Process.Pid))
		for _, t := range tasks {
			text, _ := os.ReadFile(filepath.Join(t, "schedstat"))
			if f := strings.Fields(string(text)); len(f) > 0 {
				sum.cpu += number(f[0])
			}
			sum.switches += statusOf(t, "voluntary_ctxt_switches:") + statusOf(t, "nonvoluntary_ctxt_switches:")
		}
		sum.memory += statusOf(fmt.Sprintf("/proc/%d", p.Process.Pid), "VmRSS:") * 1024
	}
	return sum
}

// statusOf reads a number of a process, or 0 if it is gone.
func statusOf(folder, key string) int64 {
	text, _ := os.ReadFile(filepath.Join(folder, "status"))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			return number(f[1])
		}
	}
	return 0
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
