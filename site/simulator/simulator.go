package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/wandertoken/wander/sim/plan"
)

// maxStep bounds one step, so that nobody can make the page wait for years of simulated time.
const maxStep = time.Hour

// errNoShow says that the page wants to go on with a run that it has not begun.
var errNoShow = errors.New("no run has begun: press Run")

// simulator answers a worker. It has one run to watch at a time.
type simulator struct{ on *plan.Show }

// begun is the answer of show.
type begun struct {
	Command string     `json:"command"`
	Scene   plan.Scene `json:"scene"`
}

// show begins a run to watch.
func (s *simulator) show(text string) (any, error) {
	f, r, err := read(text)
	if err != nil {
		return nil, err
	}
	on, err := plan.NewShow(context.Background(), r)
	if err != nil {
		return nil, err
	}
	s.on = on
	return begun{strings.Join(f.command(), " "), on.Scene()}, nil
}

// step goes on with it for so many milliseconds.
func (s *simulator) step(milliseconds float64) (any, error) {
	if s.on == nil {
		return nil, errNoShow
	}
	d := min(max(0, milliseconds), float64(maxStep.Milliseconds()))
	if err := s.on.Step(time.Duration(d * float64(time.Millisecond))); err != nil {
		return nil, err
	}
	return s.on.Scene(), nil
}

// report is what that run comes to so far.
func (s *simulator) report() (any, error) {
	if s.on == nil {
		return nil, errNoShow
	}
	return s.on.Report(), nil
}

// plan is the report of `wander plan`.
func (s *simulator) plan(text string, progress func(done float64)) (any, error) {
	_, r, err := read(text)
	if err != nil {
		return nil, err
	}
	return plan.Make(context.Background(), r, progress)
}

func read(text string) (*form, plan.Request, error) {
	f, err := readForm(text)
	if err != nil {
		return nil, plan.Request{}, err
	}
	r, err := f.request()
	return f, r, err
}

// answer is JSON for the worker: {"error": text}, or what was asked for.
func answer(v any, err error) string {
	if err != nil {
		v = struct {
			Error string `json:"error"`
		}{err.Error()}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return answer(nil, err)
	}
	return string(text)
}
