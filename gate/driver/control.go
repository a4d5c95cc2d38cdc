package driver

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"
)

// Paths of the local socket's HTTP API.
const (
	StatusPath = "/v1/status"
	ClearPath  = "/v1/clear" // ?slot=N
)

// maxControlHeader bounds a request's header, in bytes; requests have no body.
const maxControlHeader = 4 << 10

// controlTimeout bounds one request: whoever may use the socket may stop the gate as well.
const controlTimeout = 10 * time.Second

// refusalBody is the answer to a request that failed.
type refusalBody struct {
	Error string `json:"error"`
}

// NewControl serves status and clear on a local socket, which is for the gate's own user alone.
func (g *Gate) NewControl(log *slog.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+StatusPath, func(w http.ResponseWriter, r *http.Request) {
		s, err := g.Status(r.Context())
		answer(w, s, err)
	})
	mux.HandleFunc("POST "+ClearPath, func(w http.ResponseWriter, r *http.Request) {
		slot, err := strconv.Atoi(r.URL.Query().Get("slot"))
		if err != nil {
			err = ErrSlot
		} else {
			err = g.Clear(r.Context(), slot)
		}
		answer(w, struct{}{}, err)
	})
	return &http.Server{
		Handler: mux, ReadTimeout: controlTimeout, WriteTimeout: controlTimeout, IdleTimeout: controlTimeout, MaxHeaderBytes: maxControlHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

func answer(w http.ResponseWriter, value any, err error) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case errors.Is(err, ErrSlot), errors.Is(err, ErrNotStuck):
		w.WriteHeader(http.StatusConflict)
		value = refusalBody{err.Error()}
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
		value = refusalBody{err.Error()}
	}
	_ = json.NewEncoder(w).Encode(value) // whoever asked may be gone
}
