package cluster

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	churnFlag   = flag.Duration("cluster.churn", 0, "the virtual time of TestChurn; 0: it is skipped")
	membersFlag = flag.Int("cluster.members", 200, "the members of TestChurn")
	wallFlag    = flag.Duration("cluster.wall", 0, "ends TestChurn after the last whole virtual hour that fits; 0: never")
	halvesFlag  = flag.Duration("cluster.halves", 3*time.Hour, "how often TestChurn cuts the network in halves")
)

// TestChurn is the run that counts.
func TestChurn(t *testing.T) {
	if *churnFlag == 0 {
		t.Skip("asked for with -cluster.churn")
	}
	r := runChurn(churnOptions{
		Seed: *firstFlag, Members: *membersFlag, For: *churnFlag, Every: 10 * time.Second, Lifetime: time.Hour,
		Halves: *halvesFlag, HalvesFor: 2 * time.Minute, Progress: os.Stdout, Enough: outOfTime(*wallFlag),
	})
	fmt.Println(r)
	require.NoError(t, r.Err())
	q := r.Quarters()
	for i := range q {
		assert.Greater(t, q[i].Knowing, 0.97, "quarter %d", i+1)
		assert.Less(t, q[i].Dead, 5.0, "quarter %d", i+1)
	}
	if r.Virtual >= 12*time.Hour { // the dead are forgotten by then as fast as others die
		assert.Less(t, float64(q[3].Entries), 1.2*float64(q[1].Entries), "memory does not grow")
		assert.Less(t, float64(q[3].Bytes), 1.2*float64(q[1].Bytes), "memory does not grow")
	}
	for _, resource := range []string{"single", "several"} {
		assert.Less(t, r.Longest(resource), time.Hour, resource)
	}
}

// outOfTime reports, after each hour of a run, whether another one like it would
// take longer than there is.
func outOfTime(budget time.Duration) func() bool {
	if budget == 0 {
		return nil
	}
	began := time.Now()
	last := began
	return func() bool {
		now := time.Now()
		hour := now.Sub(last)
		last = now
		return now.Add(hour).Sub(began) > budget
	}
}

// TestChurnShort is a little of it.
func TestChurnShort(t *testing.T) {
	skipUnderRaceDetector(t)
	r := runChurn(churnOptions{
		Members: 20, For: 4 * time.Minute, Every: 10 * time.Second, Lifetime: 10 * time.Minute,
		Halves: 3 * time.Minute, HalvesFor: 40 * time.Second,
	})
	t.Logf("\n%v", r)
	require.NoError(t, r.Err())
	assert.Greater(t, r.counts.joins, 40)
	for _, n := range []int{r.counts.crashes, r.counts.kills, r.counts.leaves, r.counts.revocations, r.counts.renewals} {
		assert.Positive(t, n)
	}
	for _, resource := range []string{"single", "several"} {
		assert.Positive(t, r.Longest(resource), "the token of %s moves", resource)
		assert.Less(t, r.Longest(resource), 4*time.Minute, resource)
	}
}
