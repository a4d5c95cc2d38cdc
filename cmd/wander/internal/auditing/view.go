package auditing

import (
	"cmp"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
)

// View is an audit as it is shown, and its JSON under "v":2. Times are RFC 3339 by
// the clock of whose record it is; lengths are seconds.
type View struct {
	V          int              `json:"v"`
	Verdict    string           `json:"verdict"` // "clean", "suspicion" or "proof": the worst finding
	Group      string           `json:"group"`
	Records    int              `json:"records"`
	Signatures int              `json:"signatures"`
	Findings   []FindingView    `json:"findings"` // proofs first
	More       map[string]int   `json:"more"`     // findings that are not listed, by kind
	Members    []MemberView     `json:"members"`
	Complaints []ComplaintsView `json:"complaints"` // those about the member first of which the most complain
	// Disregarded counts the complaints of members that were none, or are revoked.
	Disregarded int            `json:"complaints_disregarded"`
	Resources   []ResourceView `json:"resources"`
	Gates       []GateView     `json:"gates"`
	Losses      []LossView     `json:"losses"`
	Fates       map[string]int `json:"fates"` // tokens by what became of them
	Clocks      []ClocksView   `json:"clocks"`
	Unverified  map[string]int `json:"unverified"` // objects without the signer's certificate, by signer
	Notes       []string       `json:"notes"`
}

// FindingView is one finding.
type FindingView struct {
	Class    string       `json:"class"` // "proof" or "suspicion"
	Kind     string       `json:"kind"`
	Accused  string       `json:"accused,omitempty"` // name or id; proofs only
	Members  []string     `json:"members"`
	Token    string       `json:"token,omitempty"`
	Hop      uint64       `json:"hop"`
	Resource string       `json:"resource,omitempty"`
	At       string       `json:"at,omitempty"`
	Detail   string       `json:"detail,omitempty"`
	Again    int          `json:"again"` // how many more times
	Records  []RecordView `json:"records"`
	Evidence string       `json:"evidence,omitempty"` // file that was written
}

// RecordView names a record.
type RecordView struct {
	Member   string `json:"member"` // whose journal
	File     string `json:"file"`
	Sequence uint64 `json:"sequence"`
}

// MemberView is one member.
type MemberView struct {
	Member     string     `json:"member"`
	Name       string     `json:"name"`
	State      string     `json:"state,omitempty"` // "revoked", "left"
	Journal    []SpanView `json:"journal"`         // what is at hand; empty: missing
	Named      int        `json:"named"`           // transfers to it that the journals have
	Kept       int        `json:"kept,omitempty"`  // tokens that it had last, and another one was made since
	Custodies  int        `json:"custodies"`
	Operations int        `json:"operations"`
	Held       float64    `json:"held_s"`
	Findings   int        `json:"findings"` // in which it is named
	Users      []UserView `json:"users,omitempty"`
}

// UserView are the operations that one local user of a member's machine asked for, as the member says.
type UserView struct {
	User       uint64 `json:"user"`
	Operations int    `json:"operations"`
}

// ComplaintsView is what members have complained about one.
type ComplaintsView struct {
	About     string         `json:"about"`
	Count     int            `json:"count"`
	By        []string       `json:"by"`        // who complains
	StruckBy  []string       `json:"struck_by"` // who of them has struck it
	First     string         `json:"first"`
	Last      string         `json:"last"`
	Measures  map[string]int `json:"measures"` // how often each began
	Causes    map[string]int `json:"causes"`   // how often each was given
	Resources []string       `json:"resources"`
	Tokens    []string       `json:"tokens"` // the first eight that were read of
}

// SpanView is a time that a journal covers.
type SpanView struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ResourceView is one resource.
type ResourceView struct {
	Resource       string      `json:"resource"`
	Tokens         int         `json:"tokens"`
	Dropped        int         `json:"dropped"`
	Lost           int         `json:"lost"`
	Handoffs       int         `json:"handoffs"`
	Operations     int         `json:"operations"`
	Open           int         `json:"open"`    // of these, running or unknown: no record of their end is at hand
	Bounded        int         `json:"bounded"` // of these, ended no later than a bound: found past their deadline at a restart
	JainOperations float64     `json:"jain_operations"`
	JainHeld       float64     `json:"jain_held"`
	Gaps           GapsView    `json:"gaps"`
	Overlap        OverlapView `json:"overlap"`
	Shares         []ShareView `json:"shares"`
	Classes        []ClassView `json:"classes"` // empty without weights
}

// ClassView is the part of one class of members in the operations of a resource with weights.
type ClassView struct {
	Class      string  `json:"class"` // empty: the members of none
	Weight     int     `json:"weight"`
	Members    int     `json:"members"`
	Operations int     `json:"operations"`
	Share      float64 `json:"share"`
	Asked      float64 `json:"asked_share"` // by the weight, and the time for which its members were present
}

// GateView is what a gate's journal says.
type GateView struct {
	Gate     string     `json:"gate"`
	Resource string     `json:"resource"`
	Journal  []SpanView `json:"journal"`
	Sessions int        `json:"sessions"`
	Open     int        `json:"open"`    // of these, without an end in the journal
	Answers  int        `json:"answers"` // of the gate, in the members' journals
	Members  int        `json:"members"`
	Length   float64    `json:"length_s"` // of all sessions that ended
	// Prevented counts the sessions that waited for the one of another token, whose program could have run at once.
	Prevented    int     `json:"prevented"`
	PreventedFor float64 `json:"prevented_s"`
}

// GapsView are the times between operations.
type GapsView struct {
	Count       int     `json:"count"`
	Longest     float64 `json:"longest_s"`
	LongestFrom string  `json:"longest_from,omitempty"`
	P50         float64 `json:"p50_s"`
	P90         float64 `json:"p90_s"`
	P99         float64 `json:"p99_s"`
}

// OverlapView is for how long operations ran at once.
type OverlapView struct {
	Certain      float64    `json:"certain_s"`  // at least so long
	Recorded     float64    `json:"recorded_s"` // at most so long, of the operations that the journals record
	Possible     float64    `json:"possible_s"` // at most so long, with what no journal at hand covers
	MostCertain  int        `json:"most_certain"`
	MostPossible int        `json:"most_possible"`
	Pairs        int        `json:"pairs"`
	CertainPairs int        `json:"certain_pairs"`
	List         []PairView `json:"list"`
}

// PairView is one pair of recorded operations.
type PairView struct {
	Members  []string     `json:"members"`
	From     string       `json:"from"`
	Certain  float64      `json:"certain_s"`
	Possible float64      `json:"possible_s"`
	Records  []RecordView `json:"records"`
}

// ShareView is one member's part in a resource.
type ShareView struct {
	Member     string  `json:"member"`
	Operations int     `json:"operations"`
	Held       float64 `json:"held_s"`
	Present    float64 `json:"present_s"` // covered by the member's journals: its weight in the indices
}

// LossView is one token that is lost.
type LossView struct {
	Token    string `json:"token"`
	Resource string `json:"resource"`
	Slot     uint64 `json:"slot"`
	Fate     string `json:"fate"`
	Rule     string `json:"rule,omitempty"` // of the handoff, section 7
	Hop      uint64 `json:"hop"`
	Last     string `json:"last"`
	To       string `json:"to,omitempty"`
	At       string `json:"at"`
}

// ClocksView is by how much the clock of B is ahead of A's.
type ClocksView struct {
	A          string   `json:"a"`
	B          string   `json:"b"`
	Least      *float64 `json:"least_s"` // null: not known
	Most       *float64 `json:"most_s"`
	Handoffs   int      `json:"handoffs"`
	Consistent bool     `json:"consistent"` // false: one was set meanwhile
}

// maxListed is how many losses and pairs of clocks are shown.
const maxListed = 1000

// View makes what is shown. files are those that WriteEvidence has written.
func (a *Audit) View(files []string) View {
	v := View{
		V: 2, Verdict: "clean", Group: a.Group.ID().String(), Records: a.Records, Signatures: a.Signatures,
		Findings: []FindingView{}, More: make(map[string]int), Members: []MemberView{}, Resources: []ResourceView{}, Complaints: []ComplaintsView{}, Disregarded: a.Disregarded,
		Gates: []GateView{}, Losses: []LossView{}, Fates: make(map[string]int), Clocks: []ClocksView{}, Unverified: make(map[string]int),
		Notes: append([]string{}, a.Notes...),
	}
	for _, f := range a.Findings {
		one := a.finding(f)
		if f.Proved() && len(files) > 0 {
			one.Evidence, files = files[0], files[1:]
		}
		v.Findings = append(v.Findings, one)
	}
	slices.SortStableFunc(v.Findings, func(x, y FindingView) int { return cmp.Compare(x.Class, y.Class) })
	if len(v.Findings) > 0 {
		v.Verdict = v.Findings[0].Class
	}
	for k, n := range a.More {
		v.More[string(k)] = n
	}
	for m, n := range a.Report.Unverified {
		v.Unverified[a.name(m)] = n
	}
	for _, m := range a.Report.Members {
		v.Members = append(v.Members, a.member(m))
	}
	slices.SortStableFunc(v.Members, func(x, y MemberView) int { return cmp.Compare(x.Name, y.Name) })
	for _, c := range a.Report.Complaints {
		v.Complaints = append(v.Complaints, a.complaints(c))
	}
	for _, r := range a.Report.Resources {
		v.Resources = append(v.Resources, a.resource(r))
	}
	for _, g := range a.Report.Gates {
		v.Gates = append(v.Gates, GateView{
			Gate: a.name(g.Gate), Resource: g.Resource, Journal: spans(g.Spans), Sessions: g.Sessions, Open: g.Open, Answers: g.Answers, Members: g.Members,
			Length: seconds(g.Length), Prevented: g.Prevented, PreventedFor: seconds(g.PreventedFor),
		})
	}
	a.tokens(&v)
	for _, c := range a.Report.Clocks[:min(len(a.Report.Clocks), maxListed)] {
		v.Clocks = append(v.Clocks, ClocksView{
			A: a.name(c.A), B: a.name(c.B), Least: lead(c.Least), Most: lead(c.Most), Handoffs: c.Handoffs, Consistent: c.Consistent(),
		})
	}
	return v
}

func (a *Audit) tokens(v *View) {
	for _, t := range a.Tokens {
		v.Fates[t.Fate.String()]++
		if !t.Fate.Lost() || len(v.Losses) >= maxListed {
			continue
		}
		l := LossView{
			Token: t.ID.String(), Resource: t.Resource, Slot: t.Slot, Fate: t.Fate.String(), Rule: t.Rule, Hop: t.Hop,
			Last: a.name(t.Last), At: at(t.At),
		}
		if !t.To.IsZero() {
			l.To = a.name(t.To)
		}
		v.Losses = append(v.Losses, l)
	}
}

func (a *Audit) finding(f audit.Finding) FindingView {
	one := FindingView{
		Class: "suspicion", Kind: string(f.Kind), Hop: f.Hop, Resource: a.ResourceOf(f.Token),
		Detail: f.Detail, Again: f.Again, Records: a.records(f.Records),
	}
	if f.Proved() {
		one.Class, one.Accused = "proof", a.name(f.Accused)
	}
	one.Members = a.names(f.Members)
	if f.Token != (ident.Token{}) {
		one.Token = f.Token.String()
	}
	if f.At > 0 {
		one.At = at(f.At)
	}
	return one
}

func (a *Audit) records(list []audit.RecordRef) []RecordView {
	views := make([]RecordView, 0, len(list))
	for _, p := range list {
		one := RecordView{Member: a.name(a.journals[p.Journal].member), Sequence: p.Seq}
		if s := a.segmentOf(p); s != nil {
			one.File = s.path
		}
		views = append(views, one)
	}
	return views
}

func (a *Audit) member(m audit.Member) MemberView {
	v := MemberView{
		Member: m.ID.String(), Name: m.Name, Journal: spans(m.Spans), Named: m.Named, Kept: m.Kept, Custodies: m.Custodies,
		Operations: m.Operations, Held: seconds(m.Held),
	}
	for _, u := range m.Users {
		v.Users = append(v.Users, UserView{u.ID, u.Operations})
	}
	switch {
	case m.Revoked:
		v.State = "revoked"
	case m.Left:
		v.State = "left"
	}
	for _, f := range a.Findings {
		if slices.Contains(f.Members, m.ID) {
			v.Findings++
		}
	}
	return v
}

func (a *Audit) complaints(c audit.Complaints) ComplaintsView {
	v := ComplaintsView{
		About: a.name(c.About), Count: c.Count, By: a.names(c.By), StruckBy: a.names(c.Struck), First: at(c.First), Last: at(c.Last),
		Measures: make(map[string]int), Causes: make(map[string]int), Resources: c.Resources, Tokens: []string{},
	}
	for m, n := range c.Measures {
		v.Measures[m.String()] = n
	}
	for cause, n := range c.Causes {
		v.Causes[cause.String()] = n
	}
	for _, t := range c.Tokens {
		v.Tokens = append(v.Tokens, t.String())
	}
	return v
}

func (a *Audit) names(list []ident.Member) []string {
	names := []string{}
	for _, m := range list {
		names = append(names, a.name(m))
	}
	return names
}

func (a *Audit) resource(r audit.Resource) ResourceView {
	v := ResourceView{
		Resource: r.Name, Tokens: r.Tokens, Dropped: r.Dropped, Lost: r.Lost, Handoffs: r.Handoffs, Operations: r.Operations,
		JainOperations: r.JainOperations, JainHeld: r.JainHeld, Shares: []ShareView{}, Classes: []ClassView{},
		Gaps: GapsView{
			Count: r.Gaps.Count, Longest: seconds(r.Gaps.Longest), P50: seconds(r.Gaps.P50), P90: seconds(r.Gaps.P90), P99: seconds(r.Gaps.P99),
		},
		Open: r.Open, Bounded: r.Bounded,
		Overlap: OverlapView{
			Certain: seconds(r.Overlap.Certain), Recorded: seconds(r.Overlap.Recorded), Possible: seconds(r.Overlap.Possible),
			MostCertain: r.Overlap.MostCertain, MostPossible: r.Overlap.MostPossible,
			Pairs: r.Overlap.Pairs, CertainPairs: r.Overlap.CertainPairs, List: []PairView{},
		},
	}
	if r.Gaps.Count > 0 {
		v.Gaps.LongestFrom = at(r.Gaps.LongestFrom)
	}
	for _, o := range r.Overlap.List {
		v.Overlap.List = append(v.Overlap.List, PairView{
			Members: []string{a.name(o.Members[0]), a.name(o.Members[1])}, From: at(o.From),
			Certain: seconds(o.Certain), Possible: seconds(o.Possible), Records: a.records(o.Records[:]),
		})
	}
	for _, s := range r.Shares {
		v.Shares = append(v.Shares, ShareView{a.name(s.Member), s.Operations, seconds(s.Held), seconds(s.Present)})
	}
	for _, c := range r.Classes {
		v.Classes = append(v.Classes, ClassView(c))
	}
	return v
}

// name is what people call a member, or its id.
func (a *Audit) name(m ident.Member) string {
	if name := a.Trust.Name(m); name != "" {
		return name
	}
	return m.String()
}

func at(micros uint64) string {
	const last = 253402300799999999 // the year 9999
	return time.UnixMicro(int64(min(micros, last))).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func spans(list []audit.Span) []SpanView {
	views := make([]SpanView, 0, len(list))
	for _, s := range list {
		views = append(views, SpanView{at(s.From), at(s.To)})
	}
	return views
}

func seconds(micros uint64) float64 { return float64(micros) / 1e6 }

// lead is a bound in seconds, nil where nothing tells.
func lead(micros int64) *float64 {
	const year = 366 * 24 * 3600 * 1e6
	if micros > 100*year || micros < -100*year {
		return nil
	}
	s := float64(micros) / 1e6
	return &s
}
