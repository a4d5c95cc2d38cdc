// Package world is where a soak run happens: real processes on machines of
// their own, which are network namespaces, and a network between them whose
// faults the run decides.
//
//	world.RunFirst()                       // first of all in main
//	code, err := world.Enter(arguments)    // the outer process; the inner one goes on here:
//	w, err := world.New(dir, []string{"m1", "m2"}, seed)
//	defer w.Close()
//	m := w.Machines[0]
//	err = m.StartDaemon("wander", "node", "--config", settings)
//	w.Network.Set(0, 1, world.Path{Cut: true}) // m1 to m2, and not back
//	m.PowerOff()                               // SIGKILL of all that runs there
//
// # Who calls it
//
// The commands soak, soak/hostile and soak/loss, of which package rig does what they have in common: rig.Outer calls
// Enter, rig.Inner calls RunFirst. soak opens a World itself, the other two by rig.Group.
//
// # How it is built
//
//	outer process
//	└ first process (RunFirst)         PID 1 of a PID namespace; reaps, passes SIGTERM on
//	  └ inner process (New)
//	    ├ thread in namespace 1 ── wander0 (TUN) ─┐
//	    ├ thread in namespace 2 ── wander0 (TUN) ─┼─ Network.forward, one goroutine for each machine
//	    └ thread in namespace n ── wander0 (TUN) ─┘
//
// The inner process has a file of each machine's TUN device. So the network is this program: it can cut, delay and
// lose packets in each direction, without a firewall or a queue discipline of the kernel.
//
// # The types
//
//	World     the machines, a spare one, and the network; Close ends what runs on them
//	Machine   a folder, an address, and the processes there: start, kill, stop, freeze, power off, fill the disk
//	Network   the switch: Set changes a path, Watch looks at packets, Traffic counts them
//	Path      what happens to packets from one machine to another
//	place     the thread that is in a namespace, and starts processes there
//
// # The walk of one packet
//
// The kernel of machine i routes it to wander0. Network.forward(i) reads it, destination finds the machine that has
// the address, and send decides: a cut or lossy path, a machine without power and a full delay queue (maxDelayed)
// drop it. Otherwise it is written to the other TUN device, at once or after Path.Delay. The sender learns of no
// loss. What is killed without PowerOff leaves a kernel that answers "port unreachable".
//
// # Invariants
//
//   - Everything ends with the process that calls Enter: all other processes are in a process namespace that the
//     kernel ends with its first process, and a network namespace ends with the processes in it. A run leaves
//     nothing but files, however it ends.
//   - PowerOff stops all processes before it kills one, so that no process acts on the end of another one.
//   - A daemon that ends without having been told to is in Died. Kill, Stop, Fill and PowerOff tell it to.
//   - No program is started on a machine that is off; Run starts none on a frozen one either (ErrOff).
//   - No setting of the caller's environment (WANDER_…) reaches a program.
//
// # What belongs elsewhere
//
// Which fault comes when is for package plan and the commands; what a group needs (certificates, settings) is for
// them and package rig. Journals are files here: CopyJournal, PutBack, CutJournal, StartClone and StartTwin know
// their names and not their format. A new fault of a machine is a method of Machine, one of the network a field of
// Path. All files but this one need Linux.
//
// Machine and Network may be used concurrently. The methods that change one machine's journal expect that the
// caller does one thing to that machine at a time.
package world
