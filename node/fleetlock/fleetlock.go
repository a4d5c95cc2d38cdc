// Package fleetlock speaks FleetLock, by which Zincati and other updaters ask before they restart a machine:
// https://coreos.github.io/zincati/development/fleetlock/protocol/.
//
// A client asks again until it is granted (POST /v1/pre-reboot), restarts its machine, and says that it is up again
// (POST /v1/steady-state). Both may be repeated.
package fleetlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
)

// The paths of the protocol.
const (
	PreReboot   = "/v1/pre-reboot"
	SteadyState = "/v1/steady-state"
)

const (
	// maxBody bounds a request, in bytes: ten times the longest one that is accepted.
	maxBody = 4 << 10
	// maxID bounds the id of a client, in bytes: the protocol's are 32.
	maxID = 128
)

// Errors of a Locker.
var (
	// ErrBusy says that another machine, or another client of this one, has the resource.
	ErrBusy = errors.New("not granted yet")
	// ErrGroup says that no resource belongs to the client's group.
	ErrGroup = errors.New("no resource belongs to this group")
	// ErrRefused says that the resource cannot be held across a restart, or that this member may not.
	ErrRefused = errors.New("refused")
	// ErrMany says that too many clients ask.
	ErrMany = errors.New("too many clients")
)

// Client is who asks: a machine, and the group that it restarts with.
type Client struct{ ID, Group string }

// Locker holds resources for clients. Both methods may be repeated.
type Locker interface {
	// Lock returns nil if the client has the resource. It answers soon: ErrBusy says that the client is to ask again.
	Lock(ctx context.Context, c Client) error
	// Unlock ends what the client has or waits for. It is no error if that is nothing.
	Unlock(c Client) error
}

// Handler serves both paths.
func Handler(l Locker) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(PreReboot, answer(func(r *http.Request, c Client) error { return l.Lock(r.Context(), c) }))
	mux.Handle(SteadyState, answer(func(_ *http.Request, c Client) error { return l.Unlock(c) }))
	return mux
}

// problem is the answer of the protocol to what fails.
type problem struct {
	Kind   string `json:"kind"`
	Value  string `json:"value"`
	status int
}

var groupForm = regexp.MustCompile(`^[a-zA-Z0-9.-]{1,64}$`)

// read reads a request.
func read(w http.ResponseWriter, r *http.Request) (c Client, p *problem) {
	if r.Method != http.MethodPost {
		return c, &problem{"bad_method", "use POST", http.StatusMethodNotAllowed}
	}
	if r.Header.Get("fleet-lock-protocol") != "true" {
		return c, &problem{"missing_header", "the header fleet-lock-protocol: true is missing", http.StatusBadRequest}
	}
	var body struct {
		Params struct {
			ID    string `json:"id"`
			Group string `json:"group"`
		} `json:"client_params"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	if err := d.Decode(&body); err != nil {
		return c, &problem{"bad_body", "not understood: " + err.Error(), http.StatusBadRequest}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, &problem{"bad_body", "more than one object", http.StatusBadRequest}
	}
	c = Client{body.Params.ID, body.Params.Group}
	switch {
	case len(c.ID) == 0 || len(c.ID) > maxID:
		return c, &problem{"bad_id", fmt.Sprintf("client_params.id of %d bytes, permitted are 1 to %d", len(c.ID), maxID), http.StatusBadRequest}
	case !groupForm.MatchString(c.Group):
		return c, &problem{"bad_group", "client_params.group: permitted are 1 to 64 letters, digits, dots and hyphens", http.StatusBadRequest}
	}
	return c, nil
}

func answer(do func(*http.Request, Client) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, p := read(w, r)
		if p == nil {
			p = problemOf(do(r, c))
		}
		if p == nil {
			return // 200
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(p.status)
		_ = json.NewEncoder(w).Encode(p) // a client that has gone does not miss it
	})
}

func problemOf(err error) *problem {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy):
		return &problem{"failed_lock", err.Error(), http.StatusConflict}
	case errors.Is(err, ErrGroup):
		return &problem{"unknown_group", err.Error(), http.StatusNotFound}
	case errors.Is(err, ErrRefused):
		return &problem{"refused", err.Error(), http.StatusForbidden}
	case errors.Is(err, ErrMany):
		return &problem{"too_many_clients", err.Error(), http.StatusServiceUnavailable}
	}
	return &problem{"internal", err.Error(), http.StatusInternalServerError}
}
