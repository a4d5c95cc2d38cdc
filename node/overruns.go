package node

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
)

const (
	// overrunsShown is for how long people are told of a program that has reached its deadline: whoever asks why a job is not done asks soon.
	overrunsShown = time.Hour

	// maxOverruns bounds those that are kept, the last ones: a list of warnings that is longer is read by nobody.
	maxOverruns = 8
)

// overrun is a program that had not ended at its deadline. Whoever runs it has killed it then.
type overrun struct {
	resource string
	process  uint64 // that asked for it; 0: not known
	at       time.Time
	held     time.Duration
}

// overruns are those of late. The zero value is ready.
type overruns struct {
	mu   sync.Mutex
	list []overrun // oldest first
}

func (l *overruns) note(o overrun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == maxOverruns {
		l.list = slices.Delete(l.list, 0, 1)
	}
	l.list = append(l.list, o)
}

// warnings are a line for each that is not long ago.
func (l *overruns) warnings(now time.Time) (list []api.Warning) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.list {
		if now.Sub(o.at) >= overrunsShown {
			continue
		}
		process := ""
		if o.process > 0 {
			process = fmt.Sprintf(", asked for by process %d,", o.process)
		}
		list = append(list, api.Warning{Cause: explain.Overran, Sentence: fmt.Sprintf("a program of %s%s had not ended at its deadline at %s, %s after it began: it was killed, or its grant is over",
			o.resource, process, o.at.UTC().Format(time.RFC3339), duration.Format(duration.About(o.held)))})
	}
	return list
}
