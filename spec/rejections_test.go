package spec_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	updates "github.com/wandertoken/wander/protocol/update"
)

// some is in a reason for what an object is.
const some = "…"

// rejections are the meanings of the reasons that a member counts.
var rejections = map[string]string{
	"malformed":                   "**F-3**",
	"not connected":               "a frame of a peer with which there is no connection any more, or of a revoked one (**D-9**)",
	"before hello":                "**M-2**",
	"protocol version":            "**M-3**",
	"hello rate":                  "**M-8**",
	"recalling":                   "**H-72**: a transfer that has to come again",
	"shown object":                "**H-73**",
	"gossip rate":                 "**M-14**",
	"want rate":                   "**M-6**",
	"probe rate":                  "**M-15**",
	"probe while late":            "**D-49**",
	"news rate":                   "**M-16**",
	"policy rate":                 "**P-3**",
	"keeper rate":                 "**P-3**",
	"policy mismatch":             "**P-2**",
	"own policy rate":             "**P-3**: not sent to a peer, which would not handle it",
	"own keeper rate":             "**P-3**: not sent to a peer, which would not handle it",
	"policy messages waiting":     "**P-3**: not sent, as too many wait until their receivers may be dialled",
	"policy message to nobody":    "**P-3**: not sent, as the receiver is not eligible",
	"policy message out of reach": "**P-3**: not sent, as the receiver only dials out and is not connected",
	"not asked for":               "**M-9**",

	"configuration part": "**M-19**: it does not continue what has come",
	"configuration rate": "**M-18**",
	"update rate":        "**M-18**",

	"directory without end": "**M-17**",
	"summary out of range":  "**M-13**",
	"ignored peer":          "**D-31**",
	"too many suspects":     "**D-32**: a member is not watched",

	"forged " + some:                "an object that is malformed, or whose signature does not hold",
	some + " not kept":              "its signer or subject is not known, there is no room, or it has been forgotten",
	some + " of an unknown CA key":  "and of one that is not in force",
	"unknown kind of update":        "**M-10**; of a later version of the protocol",
	"malformed update":              "**M-10**",
	"old endpoint record":           "a newer one is known",
	"older configuration":           "**D-29**",
	"forged configuration":          "malformed, or its signature does not hold",
	"configuration":                 "one that is not adopted for another reason: **O-5**, **O-17**, **O-18**",
	"statement about a CA key":      "it does not hold, and not because a key is retired or not known (**O-3**)",
	"certificate of another member": "given to this member as its own",

	"unknown signer":   "**H-43**: a certificate is missing",
	"signature":        "of an object of a token",
	"signer":           "of an object of a token: it is not the one that it names",
	"chain":            "**O-10**, **O-11**",
	"policy field":     "**P-1**: too long",
	"malformed object": "an object of a token",
	"address":          "**H-43**: a transfer that is not the sender's, or not for this member",
	"unsettled":        "**H-58**",
	"other":            "any other reason why a message about a handoff was dropped",

	"complaint not signed": "a policy complained about nobody, or about this member",
	"genesis not signed":   "this member failed: see its log",
	"failure not signed":   "this member failed",
	"own endpoint record":  "this member failed: its own record was not taken",
	"update not encoded":   "this member failed: an update that does not fit",
}

// counted finds the reasons in the code, and what a peer is counted for them: a
// fault, something outdated, or nothing.
type counted struct {
	t       *testing.T
	reasons map[string]string
	objects map[string]bool
}

func countedReasons(t *testing.T) counted {
	c := counted{t, make(map[string]string), make(map[string]bool)}
	for _, file := range newSource(t).tree("member") {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "reasonOf" {
					c.literals(n.Body)
				}
			case *ast.CallExpr:
				c.call(n)
			}
			return true
		})
	}
	return c
}

// literals takes every string in a function for a reason.
func (c *counted) literals(in ast.Node) {
	ast.Inspect(in, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			c.reasons[c.text(lit)] = ""
		}
		return true
	})
}

func (c *counted) call(n *ast.CallExpr) {
	if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "rejection" {
		c.reason(n.Args[0], "")
	}
	f, ok := n.Fun.(*ast.SelectorExpr)
	if !ok || len(n.Args) == 0 {
		return
	}
	last := n.Args[len(n.Args)-1]
	switch f.Sel.Name {
	case "reject":
		c.reason(last, "")
	case "blame":
		c.reason(last, "a fault")
	case "stale":
		c.reason(last, "outdated")
	case "unlearned":
		c.objects[c.text(n.Args[1])] = true
	}
}

func (c *counted) reason(e ast.Expr, as string) {
	switch e := e.(type) {
	case *ast.BasicLit:
		c.reasons[c.text(e)] = as
	case *ast.BinaryExpr:
		reason := ""
		for _, part := range []ast.Expr{e.X, e.Y} {
			if _, ok := part.(*ast.BasicLit); ok {
				reason += c.text(part)
			} else {
				reason += some
			}
		}
		c.reasons[reason] = as
	}
}

func (c *counted) text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	require.True(c.t, ok, "a reason that is made up elsewhere")
	text, err := strconv.Unquote(lit.Value)
	require.NoError(c.t, err)
	return text
}

// rejectionTable is why messages and objects change nothing.
func rejectionTable(t *testing.T) *table {
	c := countedReasons(t)
	delete(c.reasons, "") // none
	out := newTable("counted as", "what", "of the peer")
	for _, reason := range slices.Sorted(maps.Keys(c.reasons)) {
		require.NotEmpty(t, rejections[reason], "no meaning of %q: add it to rejections in spec/rejections_test.go", reason)
		out.row("`"+reason+"`", rejections[reason], c.reasons[reason])
	}
	text := page(t, "refusals.md")
	for object := range c.objects {
		require.Contains(t, text, "`"+object+"`", "refusals.md does not name it in place of …")
	}
	for reason := range rejections {
		require.Contains(t, c.reasons, reason, "the code does not count this: take it out of rejections in spec/rejections_test.go")
	}
	return out
}

// timesTable is how often one update is told.
func timesTable() *table {
	members, times := []string{"N"}, []string{"messages"}
	for _, n := range []int{2, 5, 10, 100, 191, 999, 1000, 10_000, 100_000, 1_000_000} {
		members, times = append(members, strconv.Itoa(n)), append(times, strconv.Itoa(updates.Times(n)))
	}
	out := newTable(members...)
	out.row(times...)
	return out
}
