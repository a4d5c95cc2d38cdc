package gocron_test

import (
	"context"
	"errors"
	"testing"
	"time"

	scheduler "github.com/go-co-op/gocron/v2"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/clients/gocron"
	"github.com/wandertoken/wander/node/api"
)

// member grants one resource once.
type member struct{ granted chan string }

func (m member) Acquire(_ context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	m.granted <- r.Resource
	return nil, wander.ErrNotDue
}

// A job asks for the resource of its name, and does not run without it.
func TestLocker_NotGranted_JobSkipped(t *testing.T) {
	m := member{make(chan string, 1)}
	s, err := scheduler.NewScheduler(scheduler.WithDistributedLocker(gocron.Locker{Client: wander.Of(m)}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown() }()
	ran := make(chan struct{}, 1)
	j, err := s.NewJob(scheduler.DurationJob(time.Hour), scheduler.NewTask(func() { ran <- struct{}{} }), scheduler.WithName("report"))
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if err := j.RunNow(); err != nil {
		t.Fatal(err)
	}
	if got := <-m.granted; got != "report" {
		t.Errorf("it asked for %q, not for the job's name", got)
	}
	if err := s.StopJobs(); err != nil && !errors.Is(err, scheduler.ErrStopJobsTimedOut) {
		t.Fatal(err)
	}
	if len(ran) > 0 {
		t.Error("the job ran without the resource")
	}
}
