package spec_test

import "github.com/wandertoken/wander/node/transport"

// connectionTable is T-12, for every combination that there can be.
func connectionTable() *table {
	out := newTable("old one", "its preamble", "new one", "its preamble", "smaller id", "greater id")
	dialler := map[bool]string{true: "dialled here", false: "dialled there"}
	row := func(old transport.Link, was string, new transport.Link, is string) {
		out.row(dialler[old.Dialled], was, dialler[new.Dialled], is,
			transport.Choose(true, old, new).String(), transport.Choose(false, old, new).String())
	}
	const ordinal = 5
	first, other := [16]byte{1}, [16]byte{2}
	row(transport.Link{Dialled: true}, "not read",
		transport.Link{Confirmed: true, Process: first, Ordinal: ordinal}, "any")
	for _, dialled := range []bool{true, false} {
		old := transport.Link{Dialled: dialled, Confirmed: true, Process: first, Ordinal: ordinal}
		for _, held := range []bool{false, true} {
			if dialled && held {
				continue // a member does not dial while it holds another
			}
			next := transport.Link{Dialled: held, Confirmed: true, Process: first}
			next.Ordinal = ordinal + 1
			row(old, "read", next, "same process, higher")
			next.Ordinal = ordinal - 1
			row(old, "read", next, "same process, lower")
			next.Process = other
			row(old, "read", next, "other process, any")
		}
	}
	return out
}
