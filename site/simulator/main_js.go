package main

import "syscall/js"

// main gives the worker its functions, and stays so that it can call them. Each takes what the method of its name takes, and returns JSON.
func main() {
	s := new(simulator)
	for name, f := range map[string]func(args []js.Value) (any, error){
		"show":   func(args []js.Value) (any, error) { return s.show(text(args)) },
		"step":   func(args []js.Value) (any, error) { return s.step(number(args)) },
		"report": func([]js.Value) (any, error) { return s.report() },
		"plan": func(args []js.Value) (any, error) {
			return s.plan(text(args), func(done float64) {
				if len(args) > 1 {
					args[1].Invoke(done)
				}
			})
		},
	} {
		js.Global().Set("wander_"+name, js.FuncOf(func(_ js.Value, args []js.Value) any { return answer(f(args)) }))
	}
	js.Global().Call("wander_ready")
	select {}
}

// text is the first argument, or nothing where it is no text.
func text(args []js.Value) string {
	if len(args) == 0 || args[0].Type() != js.TypeString {
		return ""
	}
	return args[0].String()
}

// number is the first argument, or 0 where it is no number.
func number(args []js.Value) float64 {
	if len(args) == 0 || args[0].Type() != js.TypeNumber {
		return 0
	}
	return args[0].Float()
}
