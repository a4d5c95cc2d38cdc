package demo

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
)

// interrupted is a terminal on which Ctrl-C is pressed while the members are
// asked for their state: it reaches the members as well.
type interrupted struct {
	cancel  context.CancelFunc
	members []*process
}

func (s interrupted) Show(View) {
	s.cancel()
	for _, p := range s.members {
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

func (interrupted) Close() {}

func TestDemo_Interrupted_NoFailure(t *testing.T) {
	dir := t.TempDir()
	p := &process{name: "m", dir: dir, program: "sleep", args: []string{"60"}, client: api.Dial(filepath.Join(dir, "none"))}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	members := []*process{p}
	_, err := runMembers(ctx, Options{For: time.Minute}, members, interrupted{cancel, members})
	require.NoError(t, err)
}
