package audit

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// once names findings that are reported with the first act of a member, and
// counted.
type once struct {
	kind   Kind
	member ident.Member
}

// findings are the broken rules that an audit has found, of each kind so many.
type findings struct {
	*books
	alone  map[once]int // by their index, those that are reported once for each member
	counts map[Kind]int
}

func newFindings(b *books) *findings {
	return &findings{books: b, alone: make(map[once]int), counts: make(map[Kind]int)}
}

// add reports a finding, if it is about what was asked for.
func (fs *findings) add(f Finding) {
	if !fs.asked(f.Token, f.At, f.At) {
		return
	}
	if fs.partial() && fs.counted(f.Kind) >= maxPerKind {
		fs.report.More[f.Kind]++
		return
	}
	fs.report.Findings = append(fs.report.Findings, f)
}

func (fs *findings) counted(k Kind) int {
	fs.counts[k]++
	return fs.counts[k] - 1
}

// addOnce reports the first finding of a kind about a member, and counts the
// others.
func (fs *findings) addOnce(f Finding) {
	if !fs.asked(f.Token, f.At, f.At) {
		return
	}
	k := once{f.Kind, f.Members[0]}
	if i, known := fs.alone[k]; known {
		fs.report.Findings[i].Again++
		return
	}
	before := len(fs.report.Findings)
	if fs.add(f); len(fs.report.Findings) > before {
		fs.alone[k] = before
	}
}

// stamp is a time for people.
func stamp(ms uint64) string {
	const lastMillis = 253402300799999 // the year 9999
	return time.UnixMilli(int64(min(ms, lastMillis))).UTC().Format("2006-01-02T15:04:05.000Z")
}

// fromMillis is a time in ms in the unit of journals, µs.
func fromMillis(ms uint64) uint64 { return min(ms, lastTime/1000) * 1000 }
