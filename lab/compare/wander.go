package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

// wanderWaits is a group with the defaults. wanderReplaces does not wait for the program of a holder that is gone.
var (
	wanderWaits    = wanderOf("wander", policy.WaitForProgram)
	wanderReplaces = wanderOf("wander-replace", policy.Replace)
)

const wanderPort = 4133

func wanderOf(name string, silent policy.SilentHolder) *subject {
	return &subject{
		name:    name,
		servers: places,
		start: func(c *cluster) error {
			authority, err := ca.Create(filepath.Join(c.dir, "ca"), ca.CreateOptions{Name: "compare", Lifetime: 24 * time.Hour})
			if err != nil {
				return err
			}
			if _, err := authority.SetConfig(group.Settings{Resources: []group.Resource{{
				Name: lockName, MaxHold: bound,
				Params: policy.Params{OperationTime: time.Second, MembersMax: places, MinInterval: policy.MinDuration, OnSilentHolder: silent},
			}}}); err != nil {
				return err
			}
			c.daemons = make(map[int]*exec.Cmd)
			for i := range places {
				dir, err := c.folder(i)
				if err != nil {
					return err
				}
				if err := authority.Equip(dir, fmt.Sprintf("m%d", i)); err != nil {
					return err
				}
				address := fmt.Sprintf("%s:%d", c.machines[i].address, wanderPort)
				text := fmt.Sprintf("state_dir = %q\n[identity]\ncertificate = %q\nkey = %q\ngroup = %q\n[listen]\naddress = %q\n[bootstrap]\npeers = [\"%s:%d\"]\n",
					filepath.Join(dir, "state"), filepath.Join(dir, "member.crt"), filepath.Join(dir, "member.key"), filepath.Join(c.dir, "ca", ca.GroupFile), address,
					c.machines[0].address, wanderPort)
				if err := os.WriteFile(filepath.Join(dir, "wander.toml"), []byte(text), 0o600); err != nil {
					return err
				}
				if err := c.daemon(i, i == 0); err != nil {
					return err
				}
			}
			return nil
		},
		role: func(c *cluster, place int) role {
			return role{Socket: filepath.Join(c.dir, fmt.Sprint(place), "state", "wander.sock")}
		},
		open: func(r role) (locker, error) {
			if r.Wander != "" {
				return &wanderRun{program: r.Wander, socket: r.Socket}, nil
			}
			return &wanderLock{client: wander.Dial(r.Socket)}, nil
		},
	}
}

// daemon starts that of a place.
func (c *cluster) daemon(place int, first bool) error {
	args := []string{"node", "--config", filepath.Join(c.dir, fmt.Sprint(place), "wander.toml")}
	if first {
		args = append(args, "--found")
	}
	cmd, err := c.run(place, "wander", c.wander, args...)
	c.daemons[place] = cmd
	return err
}

type wanderLock struct {
	client *wander.Client
	held   *wander.Held
}

func (l *wanderLock) Acquire(ctx context.Context) (err error) {
	l.held, err = l.client.Acquire(ctx, lockName)
	return err
}

func (l *wanderLock) Release() error { return l.held.Release() }

// wanderRun holds the lock by a program under wander run, which ends with its input.
type wanderRun struct {
	program, socket string
	run             *exec.Cmd
	in              io.Closer
}

func (l *wanderRun) Acquire(context.Context) error {
	l.run = exec.Command(l.program, "run", lockName, "--socket", l.socket, "-c", "echo; exec cat")
	in, err := l.run.StdinPipe()
	if err != nil {
		return err
	}
	out, err := l.run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := l.run.Start(); err != nil {
		return err
	}
	l.in = in
	_, err = out.Read(make([]byte, 1)) // it holds
	return err
}

func (l *wanderRun) Release() error {
	_ = l.in.Close()
	return l.run.Wait()
}
