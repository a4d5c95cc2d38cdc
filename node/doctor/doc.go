// Package doctor judges what is seen of a daemon, its machine and its network: one check for each thing that an operator can
// mend, with a finding and one line of advice. It is pure: facts in, checks out. The daemon collects the facts that
// it alone has (node/checkup.go), and `wander doctor` those of the files.
package doctor
