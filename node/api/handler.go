package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Backend is the daemon behind the API. Its methods are called concurrently.
type Backend interface {
	// Acquire waits for the resource as long as the request says, or until ctx
	// ends, which withdraws the demand. It returns the grant in force, or one of the
	// package's errors.
	Acquire(ctx context.Context, r AcquireRequest) (HeldGrant, error)
	// Release ends a grant, also one that was given before the daemon was
	// restarted. A grant that is unknown or has ended is no error.
	Release(r ReleaseRequest) error
	// Back ends the grants of a resource that last across a restart of the machine, and returns how many there were.
	// Error: ErrRefused.
	Back(resource string) (int, error)
	Status() Status
	Members() []MemberInfo
	// Leave takes the member out of the group, permanently, and ends the daemon.
	Leave(ctx context.Context) error
	// Renew asks the CA for a newer certificate now, and puts it into force.
	Renew(ctx context.Context) (Renewal, error)
	// Waiting is why a program that waits for a resource does not run yet.
	Waiting(resource string) Waiting
	// Checkup looks at what an operator can mend, and Probe dials one member. ctx bounds the dial. Error: ErrBadRequest.
	Checkup(ctx context.Context) []Check
	Probe(ctx context.Context, r ProbeRequest) ([]Check, error)
	// LastHour is what has happened by minutes.
	LastHour() []ResourceHistory
	// Connect opens a stream to the resource through its gate, within the session of a grant. ctx bounds the
	// opening. Error: ErrNoSession.
	Connect(ctx context.Context, r ConnectRequest) (Tunnel, error)
}

// Renewal is the certificate in force after a renewal.
type Renewal struct {
	V       int       `json:"v"` // set by the server
	Serial  uint64    `json:"serial"`
	Expires time.Time `json:"expires"`
	Newer   bool      `json:"newer"` // than the one before
}

// HeldGrant is a grant in force at the daemon.
type HeldGrant interface {
	Grant() Grant
	// Lost delivers a reason if the grant is lost, and is closed when the
	// grant has ended in any way.
	Lost() <-chan LostReason
	// Release is Backend.Release for this grant. It may be repeated.
	Release(operated bool, exit int)
}

// NewHandler is the API in front of a backend.
func NewHandler(backend Backend) http.Handler { return newHandler(backend, MaxStreams) }

func newHandler(backend Backend, maxStreams int) http.Handler {
	return newHandlerEvery(backend, maxStreams, progressEvery)
}

// newHandlerEvery tells what programs wait for as often as this.
func newHandlerEvery(backend Backend, maxStreams int, every time.Duration) http.Handler {
	h := &handler{
		backend: backend,
		streams: places{what: "programs wait or hold", most: maxStreams, ofUser: MaxUserStreams, ofUsers: MaxUsersStreams},
		tunnels: places{what: "streams to gates are open", most: MaxTunnels, ofUser: MaxUserTunnels, ofUsers: MaxUsersTunnels},
		looks:   make(chan struct{}, maxLooks),
		samples: samples{of: make(map[string]sample), every: every},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/acquire", h.acquire)
	mux.HandleFunc("POST /v1/release", h.release)
	mux.HandleFunc("POST /v1/back", h.back)
	mux.HandleFunc("GET /v1/status", h.status)
	mux.HandleFunc("GET /v1/members", h.members)
	mux.HandleFunc("POST /v1/leave", h.leave)
	mux.HandleFunc("POST /v1/renew", h.renew)
	mux.HandleFunc("POST /v1/connect", h.connect)
	mux.HandleFunc("GET /v1/checkup", h.checkup)
	mux.HandleFunc("POST /v1/probe", h.probe)
	mux.HandleFunc("GET /v1/history", h.history)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, &Error{
			Code:    "bad_request",
			Message: fmt.Sprintf("bad request: there is no %s %s", r.Method, r.URL.Path),
			Hint:    "the daemon may be older than this program",
		})
	})
	return mux
}

type handler struct {
	backend Backend
	streams places // for acquire streams
	tunnels places // for streams to gates
	looks   chan struct{}
	samples samples
}

// look makes an answer out of what the member knows, when there is a place for that. It does not write it: a client may read
// slowly. The error says that ctx has ended.
func look[T any](ctx context.Context, h *handler, answer func() T) (a T, err error) {
	select {
	case h.looks <- struct{}{}:
		defer func() { <-h.looks }()
		return answer(), nil
	case <-ctx.Done():
		return a, withdrawn(ctx)
	}
}

// show replies with an answer out of what the member knows.
func show[T any](w http.ResponseWriter, r *http.Request, h *handler, answer func() T) {
	a, err := look(r.Context(), h, answer)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, a)
}

// places bounds what there is at once: in all, of each local user but the owner, and of all these together.
type places struct {
	what                  string
	most, ofUser, ofUsers int
	all                   atomic.Int64
	users                 counter
}

// take takes a place until free is called. Error: ErrUnavailable.
func (p *places) take(ctx context.Context) (free func(), err error) {
	asker := askerOf(ctx)
	if !p.users.add(asker, p.ofUser, p.ofUsers) {
		return nil, fmt.Errorf("%w: %d %s already for user %d, or %d for all users but the daemon's own", ErrUnavailable, p.ofUser, p.what, asker.User, p.ofUsers)
	}
	free = func() {
		p.all.Add(-1)
		p.users.remove(asker)
	}
	if p.all.Add(1) > int64(p.most) {
		free()
		return nil, fmt.Errorf("%w: %d %s already", ErrUnavailable, p.most, p.what)
	}
	return free, nil
}

func (h *handler) acquire(w http.ResponseWriter, r *http.Request) {
	var req AcquireRequest
	if err := decode(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	if err := req.Validate(); err != nil {
		fail(w, err)
		return
	}
	if req.AcrossReboot {
		if err := ownersOnly(r.Context()); err != nil {
			fail(w, err)
			return
		}
	}
	free, err := h.streams.take(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	defer free()
	req.Asker = askerOf(r.Context())
	p := progress{w: w, handler: h, resource: req.Resource}
	held, err := p.acquire(r.Context(), req)
	if r.Context().Err() != nil {
		// Nobody is told of this grant, so nobody would ever release it.
		if err == nil {
			held.Release(false, 0)
		}
		err = withdrawn(r.Context())
	}
	switch {
	case err != nil && p.begun:
		e, _ := errorOf(err)
		_ = writeEvent(w, event{V: Version, Event: eventRefused, Error: e}) // a client that has gone has no use for it
	case err != nil:
		fail(w, err)
	default:
		follow(w, r, held)
	}
}

func withdrawn(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errStopping) {
		return fmt.Errorf("%w: the daemon stops", ErrUnavailable)
	}
	return fmt.Errorf("%w: the demand was withdrawn", ErrNotGranted)
}

// follow tells the program of its grant, and of its loss if it comes to that,
// until the program stops listening.
func follow(w http.ResponseWriter, r *http.Request, held HeldGrant) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	grant := held.Grant()
	if err := writeEvent(w, event{V: Version, Event: eventGranted, Grant: &grant}); err != nil {
		held.Release(false, 0)
		return
	}
	var reason LostReason
	lost := false
	select {
	case reason, lost = <-held.Lost():
	case <-r.Context().Done():
		select {
		case reason, lost = <-held.Lost(): // a daemon that stops takes its grants back, and then ends the streams
		default:
		}
	}
	if lost {
		// A client that has gone meanwhile has no use for the news.
		_ = writeEvent(w, event{V: Version, Event: eventLost, Reason: reason})
	}
}

func writeEvent(w http.ResponseWriter, e event) error {
	if err := extend(w); err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(e); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// extend gives the client writeTimeout to read what is written next.
func extend(w http.ResponseWriter) error {
	err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	if errors.Is(err, http.ErrNotSupported) { // only tests write to anything else than a connection
		return nil
	}
	return err
}

func (h *handler) release(w http.ResponseWriter, r *http.Request) {
	var req ReleaseRequest
	if err := decode(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	if err := h.backend.Release(req); err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, acknowledgement{V: Version})
}

func (h *handler) back(w http.ResponseWriter, r *http.Request) {
	if err := ownersOnly(r.Context()); err != nil {
		fail(w, err)
		return
	}
	var req backRequest
	if err := decode(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	ended, err := h.backend.Back(req.Resource)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, backAnswer{V: Version, Ended: ended})
}

func (h *handler) status(w http.ResponseWriter, r *http.Request) {
	show(w, r, h, func() Status {
		s := h.backend.Status()
		s.V = Version
		s.Users = h.streams.users.list()
		return s
	})
}

func (h *handler) members(w http.ResponseWriter, r *http.Request) {
	show(w, r, h, func() MemberList { return MemberList{V: Version, Members: h.backend.Members()} })
}

func (h *handler) leave(w http.ResponseWriter, r *http.Request) {
	if err := ownersOnly(r.Context()); err != nil {
		fail(w, err)
		return
	}
	if err := h.backend.Leave(r.Context()); err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, acknowledgement{V: Version})
}

// ownersOnly refuses what concerns all users of this member to every one but its owner.
func ownersOnly(ctx context.Context) error {
	if asker := askerOf(ctx); !asker.isOwner() {
		return &Error{ // Unwrap gives ErrRefused
			Code: "refused", Message: fmt.Sprintf("user %d of this machine may use resources, and no more", asker.User),
			Hint: "run the command as the daemon's user",
		}
	}
	return nil
}

func (h *handler) renew(w http.ResponseWriter, r *http.Request) {
	if err := ownersOnly(r.Context()); err != nil {
		fail(w, err)
		return
	}
	renewal, err := h.backend.Renew(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	renewal.V = Version
	reply(w, http.StatusOK, renewal)
}

func (h *handler) checkup(w http.ResponseWriter, r *http.Request) {
	show(w, r, h, func() Checkup { return Checkup{V: Version, Checks: h.backend.Checkup(r.Context())} })
}

func (h *handler) probe(w http.ResponseWriter, r *http.Request) {
	if err := ownersOnly(r.Context()); err != nil {
		fail(w, err)
		return
	}
	var req ProbeRequest
	if err := decode(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	checks, err := h.backend.Probe(ctx, req)
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, http.StatusOK, Checkup{V: Version, Checks: checks})
}

func (h *handler) history(w http.ResponseWriter, r *http.Request) {
	show(w, r, h, func() History { return History{V: Version, Resources: h.backend.LastHour()} })
}

// decode reads the one JSON object of a request. Unknown fields are refused: a
// misspelt wait_ms would otherwise wait without end.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: more than one object", ErrBadRequest)
	}
	return nil
}

func fail(w http.ResponseWriter, err error) {
	e, status := errorOf(err)
	reply(w, status, failure{V: Version, Error: e})
}

func reply(w http.ResponseWriter, status int, v any) {
	if err := extend(w); err != nil {
		return // the connection is closed
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has gone does not miss its reply.
	_ = json.NewEncoder(w).Encode(v)
}
