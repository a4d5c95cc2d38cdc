// Package cluster is the cluster level of the simulator: whole members, the
// very machine that a daemon drives (protocol/member), on a virtual network
// and virtual disks, in virtual time.
//
// The network loses, delays, repeats and reorders messages and breaks
// connections; members crash between any two effects, which discards what was
// not synced (or keeps a prefix of it, as a disk may), and come back later;
// programs ask for resources, hold them and vanish. There are no goroutines
// and no clocks: one seed is one run, byte for byte.
//
//	result := cluster.Run(seed, cluster.Options{})
//	result.Err() // nil when all rules held
//
// Two independent observers watch a run. The guard stands at each member's
// door: nothing may leave that depends on a record which is not yet durable.
// The audit (protocol/audit) reads the journals afterwards: who had custody of
// which token, and what became of each. Neither asks a member what it
// believes. When the faults are over, every token that somebody has must move
// again, and every transfer must be answered.
//
// The long run, with its table:
//
//	go test ./sim/cluster -run TestLong -cluster.seeds 1000 -timeout 60m
//
// One seed with its whole trace:
//
//	go test ./sim/cluster -run TestSeed -cluster.seed 17 -v
//
// Churn runs a larger group in which members come and go all the time, and
// measures what that comes to: how soon news is known, what a member keeps in
// memory, how long tokens stay away.
//
//	go test ./sim/cluster -run 'TestChurn$' -cluster.churn 24h -v -timeout 24h
package cluster
