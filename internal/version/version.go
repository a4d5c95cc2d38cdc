// Package version says which program this is: its version, and the commit that it was built from.
//
//	version.Of().Version
//
// The Go command writes them into each program that it builds in a clone of the repository. A release has the version that
// the release command was given (release/), which need not be a tag.
package version

import (
	"runtime/debug"
	"time"
)

// release is set by the linker when a release is built: -X …/internal/version.release=1.2.3.
var release string

// development is the version of a program that was built without the Go command's knowledge of it.
const development = "(development)"

// Info is what is known about this program.
type Info struct {
	Version  string    // of the release, or the Go command's word for the commit
	Commit   string    // in hex; empty if it is not known
	Date     time.Time // of the commit; zero if it is not known
	Modified bool      // files differed from the commit
}

// Of returns what is known about this program.
func Of() Info {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		b = &debug.BuildInfo{}
	}
	return of(release, b)
}

func of(release string, b *debug.BuildInfo) Info {
	i := Info{Version: development}
	switch {
	case release != "":
		i.Version = release
	case b.Main.Version != "":
		i.Version = b.Main.Version
	}
	for _, s := range b.Settings {
		switch s.Key {
		case "vcs.revision":
			i.Commit = s.Value
		case "vcs.time":
			i.Date, _ = time.Parse(time.RFC3339, s.Value)
		case "vcs.modified":
			i.Modified = s.Value == "true"
		}
	}
	return i
}
