package wander_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wandertoken/wander"
)

// tape refuses a program that is late: one whose fence is below the greatest that it has seen.
type tape struct{ greatest uint64 }

var errLate = errors.New("late")

func (t *tape) write(ctx context.Context, fence uint64) error {
	if fence < t.greatest {
		return errLate
	}
	t.greatest = fence
	return ctx.Err()
}

// A program uses the tape while no other machine of the group does. The context of the function ends before the grant does.
func ExampleClient_Do() {
	client, stop := daemon() // wander.Dial("") where a daemon is installed
	defer stop()
	var to tape
	err := client.Do(context.Background(), "tape", func(ctx context.Context, g wander.Grant) error {
		return to.write(ctx, g.Fence)
	}, wander.Wait(time.Minute), wander.Label("nightly backup"))
	fmt.Println(err)
	// Output: <nil>
}

// A job that each machine starts, and that one of them does.
func ExampleOncePer() {
	client, stop := daemon()
	defer stop()
	for range 2 {
		err := client.Do(context.Background(), "tape", func(context.Context, wander.Grant) error {
			fmt.Println("reindexed")
			return nil
		}, wander.OncePer(20*time.Hour))
		if errors.Is(err, wander.ErrNotDue) {
			fmt.Println("another machine has done it")
		}
	}
	// Output:
	// reindexed
	// another machine has done it
}

// A program that does something else if it cannot have the tape now.
func ExampleClient_TryAcquire() {
	client, stop := daemon()
	defer stop()
	held, err := client.Acquire(context.Background(), "tape")
	fmt.Println(err)
	_, err = client.TryAcquire(context.Background(), "tape")
	fmt.Println(errors.Is(err, wander.ErrNotGranted))
	fmt.Println(held.Release())
	fmt.Println(errors.Is(context.Cause(held.Context()), wander.ErrReleased))
	// Output:
	// <nil>
	// true
	// <nil>
	// true
}

// A program that plays what it fetches takes along as much as lasts until its next turn. While the member has had too few turns
// to tell, it takes what its owner has configured.
func ExampleGrant_return() {
	client, stop := daemon()
	defer stop()
	const configured = 20 * time.Minute
	for turn := range 5 {
		err := client.Do(context.Background(), "tape", func(_ context.Context, g wander.Grant) error {
			take := configured
			if g.ReturnP95 > 0 {
				take = g.ReturnP95 + g.ReturnP95/10 // 19 of 20 turns come within ReturnP95
			}
			fmt.Println(turn, take < configured)
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 0 false
	// 1 false
	// 2 false
	// 3 true
	// 4 true
}
