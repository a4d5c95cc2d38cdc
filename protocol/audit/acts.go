package audit

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// once names findings that are reported with the first act of a member, and
// counted.
type once struct {
	kind   Kind
	member ident.Member
}

// add reports a finding, if it is about what was asked for.
func (a *auditor) add(f Finding) {
	if !a.asked(f.Token, f.At, f.At) {
		return
	}
	if a.partial() && a.counted(f.Kind) >= maxPerKind {
		a.report.More[f.Kind]++
		return
	}
	a.report.Findings = append(a.report.Findings, f)
}

func (a *auditor) counted(k Kind) int {
	a.counts[k]++
	return a.counts[k] - 1
}

// addOnce reports the first finding of a kind about a member, and counts the
// others.
func (a *auditor) addOnce(f Finding) {
	if !a.asked(f.Token, f.At, f.At) {
		return
	}
	k := once{f.Kind, f.Members[0]}
	if i, known := a.alone[k]; known {
		a.report.Findings[i].Again++
		return
	}
	before := len(a.report.Findings)
	if a.add(f); len(a.report.Findings) > before {
		a.alone[k] = before
	}
}

// asked reports whether something about a token in a time is within the bounds of
// the audit. What has no time, or a token that is not known, is.
func (a *auditor) asked(t ident.Token, from, to uint64) bool {
	if to > 0 && (a.From > 0 && to < a.From || a.To > 0 && from >= a.To) {
		return false
	}
	if a.Resource == "" {
		return true
	}
	g := a.tokens[t]
	return g == nil || g.resource == a.Resource
}

// signedAt looks at the time that a member's own signature states: whether its
// certificates were valid, and whether it was a member any more. It reports whether they were, and it was.
func (r *Reader) signedAt(m ident.Member, ms uint64, t ident.Token, hop uint64) bool {
	i := r.trust.members[m]
	if i == nil {
		return true
	}
	skew := r.Skew / 1000
	f := Finding{Token: t, Hop: hop, Members: []ident.Member{m}, At: fromMillis(ms), Records: places(r.place())}
	valid := func(v validity) bool { return ms+skew >= v.from && ms < v.to+skew }
	if len(i.valid) > 0 && !slices.ContainsFunc(i.valid, valid) {
		f.Kind, f.Detail = Invalid, "signed at "+stamp(ms)
		r.addOnce(f)
	}
	if i.revoked > 0 && ms > i.revoked+skew {
		f.Kind, f.Detail = Revoked, fmt.Sprintf("signed at %s, revoked at %s", stamp(ms), stamp(i.revoked))
		r.addOnce(f)
	}
	if i.left > 0 && ms > i.left+skew {
		f.Kind, f.Detail = Departed, fmt.Sprintf("signed at %s, left at %s", stamp(ms), stamp(i.left))
		r.addOnce(f)
	}
	return f.Kind == ""
}

// stamp is a time for people.
func stamp(ms uint64) string {
	const lastMillis = 253402300799999 // the year 9999
	return time.UnixMilli(int64(min(ms, lastMillis))).UTC().Format("2006-01-02T15:04:05.000Z")
}

// fromMillis is a time in ms in the unit of journals, µs.
func fromMillis(ms uint64) uint64 { return min(ms, lastTime/1000) * 1000 }
