package group

import (
	"fmt"
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/window"
)

// windowForm is one window of a resource.
type windowForm struct {
	_     struct{} `cbor:",toarray"`
	Days  uint64
	Begin uint64
	End   uint64
	Zone  string
	Name  string
}

func formsOf(list window.Windows) []windowForm {
	forms := make([]windowForm, len(list))
	for i, w := range list {
		forms[i] = windowForm{Days: uint64(w.Days), Begin: uint64(w.Begin), End: uint64(w.End), Zone: w.Zone.String(), Name: w.Name}
	}
	return forms
}

// windowsOf are what the forms say, unchecked but for the zones. Error: ErrWindows.
func windowsOf(forms []windowForm) (list window.Windows, err error) {
	if len(forms) > window.Max { // before a rule is read
		return nil, tooManyWindows(len(forms))
	}
	for _, f := range forms {
		w := window.Window{
			Days: window.Days(min(f.Days, math.MaxUint8)), Begin: int(min(f.Begin, math.MaxInt16)), End: int(min(f.End, math.MaxInt16)), Name: f.Name,
		}
		if w.Zone, err = window.ParseZone(f.Zone); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrWindows, err)
		}
		list = append(list, w)
	}
	return list, nil
}

func tooManyWindows(n int) error {
	return fmt.Errorf("%w: windows has %d, permitted are %d", ErrWindows, n, window.Max)
}

// CheckWindows returns ErrWindows if a resource whose operations take so long cannot have the windows. One that is shorter than an
// operation would let none begin.
func CheckWindows(list window.Windows, operation time.Duration) error {
	if len(list) > window.Max {
		return tooManyWindows(len(list))
	}
	for _, w := range list {
		if err := w.Validate(); err != nil {
			return fmt.Errorf("%w: windows: %w", ErrWindows, err)
		}
		if w.Length() < operation {
			return fmt.Errorf("%w: %q is shorter than operation_time, %v, in windows", ErrWindows, w.String(), operation)
		}
	}
	return nil
}
