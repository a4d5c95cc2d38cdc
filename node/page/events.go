package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

const (
	// maxListeners bounds the streams that are open at a time. People look with a browser or two, and each
	// costs a goroutine and some encoding.
	maxListeners = 16
	// eventEvery is between two events of a stream: what people see as at once.
	eventEvery = 500 * time.Millisecond
	// writeTimeout bounds how long an event may wait for its reader, who is dropped then.
	writeTimeout = 5 * time.Second
	// retryAfterMS is after what time a browser comes back whose stream has ended, in milliseconds.
	retryAfterMS = "2000"
)

// event is what a listener is told at once: the whole status, and of the rest what is new to it.
type event struct {
	Status  json.RawMessage `json:"status"`
	Members json.RawMessage `json:"members,omitempty"` // absent: as before
	Past    past            `json:"past"`
}

// events is the stream of server-sent events.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	select {
	case p.listeners <- struct{}{}:
		defer func() { <-p.listeners }()
	default:
		http.Error(w, "too many listen already", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	c := http.NewResponseController(w)
	if err := c.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) { // the request has come
		return
	}
	tick := time.NewTicker(eventEvery)
	defer tick.Stop()
	members, seq := 0, uint64(0)
	head := "retry: " + retryAfterMS + "\n"
	for {
		s, err := p.feed.latest()
		if err != nil {
			return
		}
		e := event{Status: s.status}
		e.Past, seq = newsOf(s.log, seq, p.feed.now())
		e.Past.Overlaps = s.overlaps
		if s.membersNumber != members {
			e.Members, members = s.members, s.membersNumber
		}
		if tell(w, c, head, e) != nil {
			return
		}
		head = ""
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// tell writes one event. JSON has no line breaks, so that it is one line of data.
func tell(w http.ResponseWriter, c *http.ResponseController, head string, e event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.Write(append(append([]byte(head+"data: "), data...), '\n', '\n')); err != nil {
		return err
	}
	return c.Flush()
}
