// Package supervise runs a command under a grant: never beyond its deadline,
// and never without somebody who enforces it.
//
// At the deadline less a grace everything that the command has started is asked
// to end (SIGTERM), at the deadline it is killed, on the clock of package
// boottime, so a suspend does not lengthen a grant. No daemon takes part in this.
//
//	func main() {
//		supervise.RunGuard() // does not return in a guard or a gate
//		…
//		guard, err := supervise.StartGuard(streams, supervise.ReadyTimeout) // before the grant is asked for
//		result, err := supervise.Run(command, guard, options)
//
// The runner, which calls Run, may itself be killed or frozen, so it does not
// stand alone:
//
//	runner
//	 └ upper guard     each a child of the one before, and the
//	    └ lower guard  parent of every orphan below it (subreaper)
//	       └ gate, then command
//
// Guards and gate are the same program started again, each in a process group of
// its own in the runner's session, so that job control goes on working. The gate
// waits, with the command's streams, for the word to become the command; before
// that word the guards know deadline and grace. A runner that dies first leaves
// nothing behind.
//
// A socket leads from the runner to each guard, for orders, and one back, shared
// by the guards, for what becomes of the command. A closed socket is a death. The
// lower guard reaps the command and everything that has lost its parent, so it
// knows when nothing is left; it says who stopped the command, in the order in
// which things happened, so a runner that was frozen meanwhile reports the same.
//
// While one of the three runs, the others may be killed or frozen at any moment
// and in any order:
//
//   - without the runner, the lower guard sends SIGTERM at once, and both send
//     SIGKILL after the grace or at the deadline, whichever comes first;
//   - beside a frozen runner, the lower guard sends SIGTERM a little later than
//     the runner would, and both send SIGKILL at the deadline;
//   - without the upper guard, the command goes on;
//   - without the lower guard, the system kills the command (parent-death
//     signal), and the others stop the rest;
//   - without both guards, the runner kills at once everything that is left. A
//     runner that has called Adopt finds what has left the process group.
//
// So nothing of the command runs after the deadline for longer than it takes to
// wake a process and to look through /proc (a few times, where there is no cgroup and
// the command forks meanwhile), or after all enforcers have been frozen, than that
// after the first is woken. If all three are killed, the system
// kills the command itself, and only that.
//
// The command's processes are its process group and all descendants of that,
// found by looking through /proc below the guards; nobody else is there.
// Processes are told apart by number and start, and signalled through a pidfd.
// Where a cgroup (version 2) may be divided, the command has one of its own, which
// is killed at one blow. A process that the command leaves behind when it ends is stopped in
// the same way: its operation is over, and others may use the resource.
//
// On other Unix systems there are no subreapers, parent-death signals and
// pidfds: only the process group is found. On Windows the command is in a job
// object that dies with the runner, so there are no guards; SIGTERM is a
// CTRL_BREAK event there.
package supervise
