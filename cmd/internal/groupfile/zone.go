package groupfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/window"
)

// zoneFolders are where systems keep the database of time zones. The variable ZONEINFO names another folder, as for Go's own
// library.
var zoneFolders = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// zoneVariable names a folder with time zones.
const zoneVariable = "ZONEINFO"

// maxZoneFile bounds what is read of a zone's file, in bytes: the largest has four thousand.
const maxZoneFile = 1 << 20

// ErrNoZone says that this machine cannot tell the rule of a time zone.
var ErrNoZone = errors.New("unknown time zone")

// oneWindow is one window, as a file says it.
type oneWindow struct{ window.Window }

// UnmarshalText reads a window. Names of zones are looked up on this machine.
func (w *oneWindow) UnmarshalText(text []byte) (err error) {
	w.Window, err = ParseWindow(string(text))
	return err
}

// ParseWindow reads a window as an operator writes it. Names of zones are looked up on this machine. Errors: those of
// window.Parse, and ErrNoZone.
func ParseWindow(text string) (window.Window, error) {
	return window.Parse(text, func(name string) (window.Zone, error) { return lookupZone(name, time.Now()) })
}

// lookupZone returns the rule that the database of this machine has for a zone from an instant on. Error: ErrNoZone.
func lookupZone(name string, from time.Time) (window.Zone, error) {
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `\:`) {
		return window.Zone{}, fmt.Errorf("%w: %q is not a name such as Europe/Rome", ErrNoZone, name)
	}
	folders := zoneFolders
	if named := os.Getenv(zoneVariable); named != "" {
		folders = append([]string{named}, folders...)
	}
	there := false
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		there = true
		file := filepath.Join(folder, filepath.FromSlash(name))
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxZoneFile {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		z, err := window.ParseZone(footer(data))
		if err != nil {
			return window.Zone{}, fmt.Errorf("%w: %s does not end in a rule; write the rule in place of the name, such as CET-1CEST,M3.5.0,M10.5.0/3", ErrNoZone, file)
		}
		loc, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			return window.Zone{}, fmt.Errorf("%w: %s is damaged: %w", ErrNoZone, file, err)
		}
		if at, same := follows(z, loc, from); !same {
			return window.Zone{}, fmt.Errorf("%w: %s has changes of its clock which no rule says, the first near %s; write the rule that holds until then "+
				"in place of the name, such as CET-1CEST,M3.5.0,M10.5.0/3, and sign anew before it ends", ErrNoZone, name, at.Format(time.DateOnly))
		}
		return z, nil
	}
	if !there {
		return window.Zone{}, fmt.Errorf("%w: this machine has no database of time zones to look up %q; install tzdata, set %s to a folder that has one, "+
			"or write UTC, an offset such as +02:00, or a rule such as CET-1CEST,M3.5.0,M10.5.0/3", ErrNoZone, name, zoneVariable)
	}
	return window.Zone{}, fmt.Errorf("%w: %q is not in this machine's database of time zones, which has names such as Europe/Rome", ErrNoZone, name)
}

// rulesHold is for how long a zone's rule has to say what its file says: changes of the law are known about so long before.
const rulesHold = 2 * 365 * 24 * time.Hour

// follows reports whether a zone goes by its rule alone from an instant on. The files of some zones list later changes: those of
// Morocco follow the moon. If it does not, at is a time at which the two differ.
func follows(z window.Zone, loc *time.Location, from time.Time) (at time.Time, same bool) {
	for at = from; at.Before(from.Add(rulesHold)); at = at.Add(12 * time.Hour) {
		if _, offset := at.In(loc).Zone(); offset != z.Offset(at) {
			return at, false
		}
	}
	return at, true
}

// footer is the last line of a zone's file (RFC 8536, section 3.3): the rule for all times after those that the file lists.
func footer(data []byte) string {
	text, ended := bytes.CutSuffix(data, []byte("\n"))
	if i := bytes.LastIndexByte(text, '\n'); bytes.HasPrefix(data, []byte("TZif")) && ended && i >= 0 {
		return string(text[i+1:])
	}
	return ""
}
