package main

import (
	"fmt"
	"slices"
	"strings"
)

// target is a system with a processor, as Go names them.
type target struct{ system, processor string }

func (t target) String() string { return t.system + "/" + t.processor }

// targets are those that releases are made for. Members run on Linux; the other systems have the commands, and members for trying things out.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"},
}

// parseTargets reads a list; an empty one is all.
func parseTargets(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		system, processor, _ := strings.Cut(strings.TrimSpace(text), "/")
		t := target{system, processor}
		switch {
		case !slices.Contains(targets, t):
			return nil, fmt.Errorf("%w: -only %q: must be some of %v", errUsage, text, targets)
		case slices.Contains(chosen, t):
			return nil, fmt.Errorf("%w: -only %q: named twice", errUsage, text)
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}

// program is what the program's file is called there.
func (t target) program() string {
	if t.system == "windows" {
		return "wander.exe"
	}
	return "wander"
}
