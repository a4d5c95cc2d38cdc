// Package supervise runs a command under a grant: never beyond its deadline,
// and never without somebody who enforces it.
//
// The command gets a process group of its own. At the deadline less a grace
// the whole group is asked to end (SIGTERM), at the deadline it is killed, on
// the clock of package boottime, so a suspend does not lengthen a grant. No
// daemon takes part in this.
//
// Whoever runs the command may itself be killed, so a guard watches over the
// group: a small process, the same program started again, in a session of its
// own, that knows the group and the deadline and holds one end of a socket
// whose other end only the runner holds. When the socket closes, the runner is
// dead, and the guard ends the group; when the deadline comes and the runner is
// stopped or stuck, the guard does it too.
//
//	func main() {
//		supervise.RunGuard() // does not return in a process that is a guard
//		…
//		guard, err := supervise.StartGuard() // before the grant is asked for
//		result, err := supervise.Run(command, guard, options)
//
// The guard knows the group before anything runs in it: the command's process
// begins as this same program, standing at a gate, and becomes the command only
// when the runner says so. A runner that dies first leaves nothing behind.
//
// What the command leaves in its group when it ends is stopped as well: its
// operation is over, and others may use the resource. A process that has moved
// to another group or session on purpose escapes both.
//
// On Windows the group is a job object that dies with the runner, so there is
// no guard; SIGTERM is a CTRL_BREAK event there.
package supervise
