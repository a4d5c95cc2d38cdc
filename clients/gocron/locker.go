// Package gocron lets jobs of [github.com/go-co-op/gocron/v2] take turns over a whole fleet: each machine runs the same schedule, and a job
// runs at one of them at a time.
//
// It is a module of its own, so that gocron is not among the dependencies of wander.
package gocron

import (
	"context"

	"github.com/go-co-op/gocron/v2"

	"github.com/wandertoken/wander"
)

// Locker asks the daemon of this machine for the resource that has the job's name. Give each job a name with gocron.WithName.
//
// gocron does not run a job whose Lock fails. With [wander.OncePer] among the options a job that has run somewhere is skipped elsewhere;
// [wander.Wait] bounds how long a machine waits to find that out.
type Locker struct {
	Client  *wander.Client
	Options []wander.Option
}

// Lock waits for the resource.
func (l Locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	held, err := l.Client.Acquire(ctx, job, l.Options...)
	if err != nil {
		return nil, err
	}
	return lock{held}, nil
}

type lock struct{ *wander.Held }

// Unlock gives the resource back.
func (l lock) Unlock(context.Context) error { return l.Release() }
