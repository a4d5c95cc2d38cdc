package cluster

import (
	"flag"
	"os"
	"testing"
)

var (
	seedFlag = flag.Uint64("cluster.seed", 0, "the seed that TestSeed runs, with its trace")
	mixFlag  = flag.Uint("cluster.mix", 0, "its members: 0 durable, 1 volatile, 2 mixed")
)

func TestSeed(t *testing.T) {
	r := Run(*seedFlag, Options{Mix: Mix(*mixFlag), Trace: os.Stdout})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}
