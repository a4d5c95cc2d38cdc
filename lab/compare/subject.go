package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// bound is the longest that a lock is kept for a holder that is gone: the time to live of a lease or key, a session's timeout, wander's
// max_hold. It is the default of `etcdctl lock`.
const bound = 10 * time.Second

// lockName is the lock, or the resource.
const lockName = "lock"

// locker is a lock as one client sees it.
type locker interface {
	Acquire(ctx context.Context) error
	Release() error
}

// subject is what is compared.
type subject struct {
	name     string
	servers  int                              // machines with a server; clients are in the two last of places
	programs []string                         // that have to be installed, or files
	version  func() string                    // of the server
	start    func(c *cluster) error           // starts the servers
	open     func(r role) (locker, error)     // in a client's process
	role     func(c *cluster, place int) role // of a client in a place
}

// places is how many machines each subject has: of wander five members, of others up to three servers, and two clients.
const places = 5

// clientPlaces are where the clients are.
var clientPlaces = [2]int{3, 4}

// subjects are all that is compared, in the order of the tables.
var subjects = []*subject{flock, redisOne, redlock, etcd, zookeeper, wanderWaits, wanderReplaces}

func find(name string) (*subject, error) {
	for _, s := range subjects {
		if s.name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("nothing is called %q", name)
}

// missing is the first program that is not installed, or empty.
func (s *subject) missing() string {
	for _, p := range s.programs {
		if _, err := exec.LookPath(p); err != nil {
			if _, err := os.Stat(p); err != nil {
				return p
			}
		}
	}
	return ""
}

// cluster is the servers of one subject.
type cluster struct {
	*subject
	dir       string
	wander    string // the program
	machines  []*machine
	processes []*exec.Cmd
	daemons   map[int]*exec.Cmd // of wander, by place
}

// run starts a process in a place, which logs to a file of its name.
func (c *cluster) run(place int, name string, program string, args ...string) (*exec.Cmd, error) {
	cmd := c.machines[place].command(program, args...)
	log, err := os.OpenFile(filepath.Join(c.dir, fmt.Sprintf("%s-%d.log", name, place)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c.processes = append(c.processes, cmd)
	return cmd, nil
}

// folder makes a folder of a place.
func (c *cluster) folder(place int) (string, error) {
	dir := filepath.Join(c.dir, fmt.Sprint(place))
	return dir, os.MkdirAll(dir, 0o700)
}

// addresses are host:port of the servers.
func (c *cluster) addresses(port int) (list []string) {
	for i := range c.servers {
		list = append(list, fmt.Sprintf("%s:%d", c.machines[i].address, port))
	}
	return list
}

// stop ends all servers.
func (c *cluster) stop() {
	for _, p := range c.processes {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// endsWithUs lets a process end with this one.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// firstLine is that of what a command prints, or "?".
func firstLine(name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	if err != nil || line == "" {
		return "?"
	}
	return line
}
