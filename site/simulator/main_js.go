package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"syscall/js"
	"time"

	"github.com/wandertoken/wander/sim/plan"
)

// main gives the worker its functions, and stays so that it can call them. Each returns JSON: {"error": text}, or what was asked for.
func main() {
	var on *plan.Show
	functions := map[string]func(args []js.Value) (any, error){
		// show(form) begins a run to watch.
		"show": func(args []js.Value) (any, error) {
			f, r, err := read(args)
			if err != nil {
				return nil, err
			}
			if on, err = plan.NewShow(context.Background(), r); err != nil {
				return nil, err
			}
			return begun{strings.Join(f.command(), " "), on.Scene()}, nil
		},
		// step(milliseconds) goes on with it.
		"step": func(args []js.Value) (any, error) {
			if on == nil || len(args) == 0 || args[0].Type() != js.TypeNumber {
				return nil, errForm
			}
			d := min(max(0, args[0].Float()), float64(maxStep.Milliseconds()))
			if err := on.Step(time.Duration(d * float64(time.Millisecond))); err != nil {
				return nil, err
			}
			return on.Scene(), nil
		},
		// report() is what that run comes to so far.
		"report": func([]js.Value) (any, error) {
			if on == nil {
				return nil, errForm
			}
			return on.Report(), nil
		},
		// plan(form, progress) is the report of `wander plan`.
		"plan": func(args []js.Value) (any, error) {
			_, r, err := read(args)
			if err != nil {
				return nil, err
			}
			return plan.Make(context.Background(), r, func(done float64) {
				if len(args) > 1 {
					args[1].Invoke(done)
				}
			})
		},
	}
	for name, f := range functions {
		js.Global().Set("wander_"+name, js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(f(args)) }))
	}
	js.Global().Call("wander_ready")
	select {}
}

// maxStep bounds one step, so that nobody can make the page wait for years of simulated time.
const maxStep = time.Hour

// begun is the answer of show.
type begun struct {
	Command string     `json:"command"`
	Scene   plan.Scene `json:"scene"`
}

func read(args []js.Value) (*form, plan.Request, error) {
	if len(args) == 0 || args[0].Type() != js.TypeString {
		return nil, plan.Request{}, errForm
	}
	f, err := readForm(args[0].String())
	if err != nil {
		return nil, plan.Request{}, err
	}
	r, err := f.request()
	return f, r, err
}

// answer is JSON for the worker.
func answer(v any, err error) string {
	if err != nil {
		v = struct {
			Error string `json:"error"`
		}{err.Error()}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return answer(nil, errors.Join(errForm, err))
	}
	return string(text)
}
