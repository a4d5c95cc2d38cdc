// Package top draws what `wander top` shows: it is pure, a state of the daemon and the person's choice in, lines of a
// page of so many columns and rows out.
//
//	lines := top.Draw(&state, &choice, top.Size{Columns: 80, Rows: 24})
//	choice.Press(top.Down)
//
// A page has the resources with their tokens, waits and recoveries, the daemon's sentence about the chosen one, and the
// members with their shares of it. Nothing of it depends on colour: a style only repeats what the text says.
package top
