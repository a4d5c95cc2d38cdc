package demo

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node/api"
)

// process is one member: an operating-system process that is killed and
// started again.
type process struct {
	name    string
	dir     string
	program string
	args    []string
	socket  *net.UDPConn   // which the member listens on in all its lives
	address netip.AddrPort // of the socket
	relay   *relay.Relay   // nil without one
	client  *api.Client
	input   *os.File // ends with the demo, and the member with it; nil: none

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	status api.Status // the last one seen
	past   api.Status // counters of earlier lives
	kills  []uint64   // when it was killed, µs since 1970
}

// listen binds the member's socket. The demo keeps it while the member is down and
// hands it on to each of its lives: whatever else asks the system for a port
// meanwhile, a relay for instance, does not get this one.
func (p *process) listen() error {
	var err error
	if p.socket, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		return err
	}
	p.address = p.socket.LocalAddr().(*net.UDPAddr).AddrPort()
	return nil
}

// release closes the sockets of the member, which has ended.
func (p *process) release() {
	if p.relay != nil {
		p.relay.Close()
	}
	if p.socket != nil {
		_ = p.socket.Close()
	}
}

// reached is where others reach the member.
func (p *process) reached() string {
	if p.relay != nil {
		return p.relay.Address()
	}
	return p.address.String()
}

func (p *process) stateDir() string { return filepath.Join(p.dir, "state") }

// start runs the member's program. Its log is appended to the file log.
func (p *process) start() error {
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.program, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	if p.input != nil {
		cmd.Stdin = p.input
	}
	// Settings come from the file alone.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WANDER_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if p.socket != nil {
		handed, err := handOn(cmd, p.socket)
		if err != nil {
			return fmt.Errorf("member %s: %w", p.name, err)
		}
		defer handed.Close()
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("member %s: %w", p.name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	p.mu.Lock()
	p.cmd, p.exited = cmd, exited
	p.mu.Unlock()
	return nil
}

// kill ends the process as a crash does.
func (p *process) kill() {
	p.mu.Lock()
	cmd, exited := p.cmd, p.exited
	p.past = addCounters(p.past, p.status)
	p.status = api.Status{}
	p.kills = append(p.kills, uint64(time.Now().UnixMicro()))
	p.mu.Unlock()
	_ = cmd.Process.Kill()
	<-exited
}

// stop asks the process to end: in order, then at once, since with everybody
// stopping there is nobody to pass a token to, and then it insists.
func (p *process) stop(patience time.Duration) {
	p.mu.Lock()
	cmd, exited := p.cmd, p.exited
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGTERM, os.Kill} {
		_ = cmd.Process.Signal(s)
		select {
		case <-exited:
			return
		case <-time.After(patience):
		}
	}
	<-exited
}

// dead reports whether the process has ended by itself.
func (p *process) dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// poll asks the member for its status.
func (p *process) poll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	st, err := p.client.Status(ctx)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.status = st
	p.mu.Unlock()
}

// seen is the member's last status, and its counters over all its lives.
func (p *process) seen() (now, sum api.Status, crashes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status, addCounters(p.past, p.status), len(p.kills)
}

// holds reports whether the member held a token when it was asked last.
func (p *process) holds() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.status.Resources {
		for _, s := range r.Slots {
			if s.Held {
				return true
			}
		}
	}
	return false
}

func addCounters(a, b api.Status) (sum api.Status) {
	sum.Handoffs.OK = a.Handoffs.OK + b.Handoffs.OK
	sum.Handoffs.Retried = a.Handoffs.Retried + b.Handoffs.Retried
	sum.Handoffs.Reselected = a.Handoffs.Reselected + b.Handoffs.Reselected
	sum.Handoffs.InDoubtResolved = a.Handoffs.InDoubtResolved + b.Handoffs.InDoubtResolved
	return sum
}
