//go:build unix

package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrMark says that what Mark has written is not that.
var ErrMark = errors.New("not the mark of a guard")

// mark names the guards and the command.
type mark struct {
	Guards []identity `json:"guards"`
	Leader identity   `json:"leader"`
	Cgroup string     `json:"cgroup,omitempty"`
}

// Mark names the guards, so that a process that comes after this one can wait until nothing of the command is left.
func (g *Guard) Mark() []byte {
	text, _ := json.Marshal(mark{g.tree.roots, g.tree.leader, g.tree.cgroup})
	return text
}

// AwaitGone waits until the guards of a mark have ended, which they do when nothing of their command is left, and kills what is left of the
// command if they have been killed. The process that started them must have ended. Errors: ErrMark, or that of ctx.
func AwaitGone(ctx context.Context, text []byte) error {
	var m mark
	if err := json.Unmarshal(text, &m); err != nil {
		return ErrMark
	}
	t := &tree{leader: m.Leader, fd: -1, cgroup: m.Cgroup, roots: m.Guards}
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		guarded := false
		for _, g := range m.Guards {
			guarded = guarded || alive(g)
		}
		if !guarded {
			if t.empty() {
				removeCgroup(m.Cgroup)
				return nil
			}
			t.kill()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
