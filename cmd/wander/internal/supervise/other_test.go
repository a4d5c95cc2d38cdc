//go:build unix && !linux

package supervise

func withoutCgroups() {}
