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
//	result := cluster.Setting{Seed: 17}.Run(nil)
//	result.Err() // nil when all rules held
//
// Faults are of many kinds (ParseLimits), and which of them happen can be limited, so
// that a failing run can be made smaller (Shrink). Two independent observers watch a
// run. The guard stands at each member's door: nothing may leave that depends on a
// record which is not yet durable. The audit (protocol/audit) reads the journals
// afterwards: who had custody of which token, and what became of each. Neither asks
// a member what it believes. When the faults are over, every token that somebody has
// must move again, every transfer must be answered, and all must know the same.
// There is one verdict for each Rule.
//
// A cluster is the group and its network, in virtual time. Each node is a member with its
// driver: a machine (clock and sleep), a disk, and a port to the network. What acts on the
// group stands above it: a schedule lets faults happen, a churner lets members come and go,
// a liar or an impostor speaks for a member of its own. What looks at it stands apart: the
// guard, the judges of a finished run, and the waits after the faults. A setting is where a
// new fault, preset or kind of bad member begins.
//
// As many runs as fit into five minutes, and one with its whole trace:
//
//	wander-lab cluster --for 5m
//	wander-lab cluster --seed 17 --mix durable --trace
//
// Members can be bad, each in a way that has a name (BadKinds): its driver suppresses,
// replaces and adds messages. The first command lets two be so while all else goes
// wrong; the second one measures what bad members cost the others.
//
//	wander-lab cluster --members 6 --bad hoarder,minter
//	go test ./sim/cluster -run TestBad_Costs -cluster.bad -v -timeout 4h
//
// runChurn runs a larger group in which members come and go all the time, and
// measures what that comes to: how soon news is known, what a member keeps in
// memory, how long tokens stay away.
//
//	go test ./sim/cluster -run 'TestChurn$' -cluster.churn 24h -v -timeout 24h
package cluster
