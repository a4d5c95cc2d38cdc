package api

import (
	"errors"
	"fmt"
	"net/http"
)

// Reasons for which a demand ends without a grant, and other failures. A
// backend returns them wrapped, or an *Error; a client gets an *Error that is
// one of them.
var (
	// ErrNotGranted says that the wait ended before a token came.
	ErrNotGranted = errors.New("not granted in time")
	// ErrNotDue says that the resource's operation ran more recently than the
	// demand asks for. It is ErrNotGranted too.
	ErrNotDue = fmt.Errorf("%w: not due yet", ErrNotGranted)
	// ErrHeld says that the asking program itself runs under a grant of this
	// resource.
	ErrHeld = errors.New("held already by the run that this program belongs to")
	// ErrLost says that a grant ended before its deadline without a release.
	ErrLost = errors.New("the grant was lost")
	// ErrIsolated says that the member is cut off from every peer and does not
	// hold the token.
	ErrIsolated = errors.New("cut off from every peer")
	// ErrRevoked says that the member's own certificate is revoked or expired.
	ErrRevoked = errors.New("certificate not valid")
	// ErrRefused says that the configuration does not permit the demand.
	ErrRefused = errors.New("refused by the configuration")
	// ErrNoSession says that a grant is not in force, or that there is no open session at a gate under it.
	ErrNoSession = errors.New("no open session at a gate")
	// ErrUnavailable says that the daemon cannot serve now: it is not there,
	// it stops, or it has no room for another demand.
	ErrUnavailable = errors.New("unavailable")
	// ErrNoDaemon says that nobody answers on the socket. It is ErrUnavailable
	// too.
	ErrNoDaemon = fmt.Errorf("%w: no daemon", ErrUnavailable)
	// ErrBadRequest says that the daemon does not understand the request.
	ErrBadRequest = errors.New("bad request")
	// ErrInternal says that the daemon failed.
	ErrInternal = errors.New("internal error")
	// ErrReply says that a reply is not one of this API's.
	ErrReply = errors.New("unintelligible reply")
)

// codes gives each reason its name on the wire and its HTTP status. A reason
// stands above the one it wraps.
var codes = []struct {
	code   string
	err    error
	status int
}{
	{"not_due", ErrNotDue, http.StatusConflict},
	{"held", ErrHeld, http.StatusConflict},
	{"not_granted", ErrNotGranted, http.StatusConflict},
	{"isolated", ErrIsolated, http.StatusServiceUnavailable},
	{"revoked", ErrRevoked, http.StatusForbidden},
	{"refused", ErrRefused, http.StatusForbidden},
	{"no_session", ErrNoSession, http.StatusConflict},
	{"unavailable", ErrUnavailable, http.StatusServiceUnavailable},
	{"bad_request", ErrBadRequest, http.StatusBadRequest},
	{"internal", ErrInternal, http.StatusInternalServerError},
}

// Error is a refusal as it stands on the wire.
type Error struct {
	// Code names the reason; see the sentinel errors.
	Code string `json:"code"`
	// Message says what happened, Hint what to do about it (may be empty).
	// One line each, for people.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Gate is what the resource's gate has said last, where that is why there is no grant.
	Gate string `json:"gate,omitempty"`

	causes []error
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the sentinel error that the code names, ErrReply for a code that
// this version does not know, and what caused a client's own errors.
func (e *Error) Unwrap() []error {
	for _, c := range codes {
		if c.code == e.Code {
			return append([]error{c.err}, e.causes...)
		}
	}
	return []error{ErrReply}
}

// errorOf gives a backend's error its form on the wire.
func errorOf(err error) (*Error, int) {
	var e *Error
	hint, gate := "", ""
	if errors.As(err, &e) {
		hint, gate = e.Hint, e.Gate
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return &Error{Code: c.code, Message: err.Error(), Hint: hint, Gate: gate}, c.status
		}
	}
	return &Error{Code: "internal", Message: err.Error(), Hint: hint, Gate: gate}, http.StatusInternalServerError
}
