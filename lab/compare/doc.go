// Command compare measures wander beside flock, etcd, Redis and ZooKeeper:
//
//	go build -o /tmp/wander ./cmd/wander
//	go -C lab/compare run . -wander /tmp/wander
//
// It needs Linux, root (for network namespaces), and on Debian the packages etcd-server, redis-server and zookeeper. A store that is not
// installed is left out. docs/comparison.md says what is measured, how to read it, and what came out.
//
// # Who calls it
//
// An engineer, for the figures in docs/comparison.md. It is a module of its own, so that the clients of the others are not among the
// dependencies of wander.
//
// # The types
//
//	subject          what is compared: its servers, and how a client opens a lock
//	cluster          the running servers of one subject, each in a machine
//	locker           a lock as a client sees it: Acquire, Release
//	network, machine  network namespaces, and one router that delays each packet between them
//	client           a process of its own in a machine, which holds the lock or waits for it
//	figure           the values of one measurement, and how they are printed
//
// # What holds
//
//   - All subjects run at the same time, each on machines of its own, and each measurement goes through them in turns: what else the machine
//     does meets all alike.
//   - The same router carries the packets of all. With a delay of 0 it costs each packet what it costs any other.
//   - Each client is the library that is usual in Go, with its defaults, but for the time to live: all have bound. Redis writes each lock to
//     its disk before it answers, as the others do.
//   - A figure is a median, with the least and the greatest value. The page has the tables that this command prints, and nothing that it does not:
//     a test holds that.
//   - Every instant is read from the one monotonic clock of this machine.
//   - All processes end with this one, and so do the namespaces.
//
// # What it does not measure
//
// Servers that fail, packets that are lost, Consul, and Kubernetes Leases. A run takes about a quarter of an hour, and means something only where the
// machine does little else.
package main
