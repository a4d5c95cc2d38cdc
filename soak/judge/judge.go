package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
)

// Resource is what the judge knows of a resource.
type Resource struct {
	Name    string
	Slots   int
	Several bool          // several tokens for a slot are as it should be
	MaxHold time.Duration // longest grant
	// MaxStall bounds the time in which somebody waits and nobody runs, and MaxTurn
	// the programs of one member in a row while another one waits; 0: no bound.
	MaxStall time.Duration
	MaxTurn  int
	// MaxTokens bounds the tokens made; 0: no bound. Alone: no two programs at once.
	MaxTokens int
	Alone     bool
	// Beside: two programs must run at once now and then. MaxSide is MaxStall on a side of
	// a cut on which programs can have votes; 0: MaxStall.
	Beside  bool
	MaxSide time.Duration
	// Always are the members that always want to run. The mean of their programs, over
	// those of the one that ran least, is at most MaxUneven; 0: no bound.
	Always    []string
	MaxUneven float64
}

// Evidence is all that a run has left.
type Evidence struct {
	Resources []Resource
	Volatile  []string // members whose crash may lose a token
	Rolled    []string // members whose journals went back, or that ran twice: they may lose tokens, and their journals lack records
	Runs      []Run    `json:"-"` // they are in the log
	Asks      []Ask
	Outages   []Outage
	Sides     []Side // of the group, while it was cut in two
	Audits    []Audited
	Began     clock.Instant
	Calm      clock.Instant // the beginning of the last part, in which nothing fails; 0: the run was ended before it was over
	Ended     clock.Instant

	Died   []string // daemons that ended by themselves
	Panics []string // lines of logs
	Stuck  []string // members whose daemon did not answer in the end
	Hung   []string // wander runs that did not end when told
	Views  []string // views of the membership in the end that differ
	Errors []string // of the run itself
}

// Verdict is one value that was measured, and its limit.
type Verdict struct {
	Audit string  `json:"audit,omitempty"` // which one, for what is of one audit
	Name  string  `json:"name"`
	About string  `json:"about,omitempty"` // a resource
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Max is the limit; absent for what is only measured.
	Max *float64 `json:"max,omitempty"`
	// Timing means that the value depends on the speed of the machine.
	Timing bool     `json:"timing,omitempty"`
	Broken bool     `json:"broken"`
	Notes  []string `json:"notes,omitempty"`
}

// maxNotes bounds the notes of a verdict.
const maxNotes = 10

// verdicts collects them.
type verdicts []Verdict

func (v *verdicts) add(one Verdict) {
	if one.Max != nil {
		one.Broken = !(one.Value <= *one.Max) // also if it is no number
	}
	if more := len(one.Notes) - maxNotes; more > 0 {
		one.Notes = append(slices.Clone(one.Notes[:maxNotes]), fmt.Sprintf("and %d more", more))
	}
	*v = append(*v, one)
}

func (v *verdicts) none(name string, list []string) {
	v.add(Verdict{Name: name, Value: float64(len(list)), Max: limit(0), Notes: list})
}

func limit(x float64) *float64 { return &x }

// clockStep is how exactly times are known that an audit gives in microseconds:
// comparing them with nanoseconds must not fail by their rounding.
const clockStep = 2 * time.Microsecond

// Judge measures.
func Judge(e Evidence) []Verdict {
	var v verdicts
	longest := make(map[string]time.Duration)
	for _, r := range e.Resources {
		longest[r.Name] = r.MaxHold
	}
	e.Runs = granted(e.Runs, longest)
	e.audits(&v)
	e.custody(&v)
	e.group(&v)
	for _, r := range e.Resources {
		e.service(&v, r)
	}
	return v
}

// audits compares what each audit says with what ran. Of journals that were
// copied while members ran, what ran until the first copy began is compared with
// what is possible, and what ran until the last one ended with what is certain.
func (e Evidence) audits(v *verdicts) {
	for _, a := range e.Audits {
		early, late := before(e.Runs, a.Copied.From), before(e.Runs, a.Copied.To)
		for _, r := range e.Resources {
			certain, possible, stated := a.overlap(r.Name)
			if !stated {
				v.add(Verdict{Audit: a.Name, Name: "overlap that the audit does not state", About: r.Name, Value: 1, Max: limit(0)})
				continue
			}
			least, _ := Overlap(early, r.Name, 1)
			_, most := Overlap(late, r.Name, 1)
			v.add(Verdict{
				Audit: a.Name, Name: "audit's certain overlap, at most the log's", About: r.Name, Unit: "s",
				Value: certain.Seconds(), Max: limit((most + clockStep).Seconds()),
			})
			v.add(Verdict{
				Audit: a.Name, Name: "log's overlap, at most the audit's possible", About: r.Name, Unit: "s",
				Value: least.Seconds(), Max: limit((possible + clockStep).Seconds()),
			})
		}
		var proofs, suspicions, outlived []string
		for _, f := range a.Findings {
			line := fmt.Sprintf("%s %v: %s (%d times)", f.Kind, f.Who, f.Detail, f.Again+1)
			switch {
			case f.Class == "proof":
				proofs = append(proofs, line)
			case f.Kind == outlivedKind && strings.HasPrefix(f.Detail, unseen):
				outlived = append(outlived, line)
			case len(e.Rolled) == 0: // where records are missing, much is suspicious
				suspicions = append(suspicions, line)
			}
		}
		v.add(Verdict{Audit: a.Name, Name: "rules broken, by proof", Value: float64(len(proofs)), Max: limit(0), Notes: proofs})
		v.add(Verdict{
			Audit: a.Name, Name: "grants whose end was written late, by suspicion", Value: float64(len(outlived)), Max: limit(0), Timing: true, Notes: outlived,
		})
		v.add(Verdict{Audit: a.Name, Name: "rules broken, by suspicion", Value: float64(len(suspicions)), Max: limit(0), Notes: suspicions})
	}
}

// outlivedKind and unseen are the audit's words for a program that may have run on: a member
// that gets no processor for seconds writes the end of one that has not so late, too.
const (
	outlivedKind = "grant outlived its deadline"
	unseen       = "nobody saw it end"
)

// custody is what must hold of tokens, by the log and by the last audit.
func (e Evidence) custody(v *verdicts) {
	twice, older := e.tokenUse()
	if len(e.Rolled) > 0 { // a grant of which the record was lost
		v.add(Verdict{Name: "two programs at once under one token, where journals go back", Value: float64(len(twice)), Notes: twice})
		twice = nil
	}
	v.none("two programs at once under one token", twice)
	v.none("programs under an older hop of a token than one before them", older)
	if len(e.Audits) == 0 {
		v.none("missing audits", []string{"there is none"})
		return
	}
	var lost []string
	may := slices.Concat(e.Volatile, e.Rolled)
	for _, l := range e.Audits[len(e.Audits)-1].Losses {
		if !slices.Contains(may, l.Last) && !slices.Contains(may, l.To) {
			lost = append(lost, fmt.Sprintf("%s: %s, last at %s, to %s", l.Resource, l.Fate, l.Last, l.To))
		}
	}
	v.none("tokens lost by durable members", lost)
}

// tokenUse lists what the programs contradict of one token's custody.
func (e Evidence) tokenUse() (twice, older []string) {
	type use struct{ last, highest Run } // the one that ran longest, the one of the highest hop
	byToken := make(map[string]use)
	for _, r := range e.Runs { // in the order of their beginning
		u, seen := byToken[r.Token]
		if !seen {
			u = use{r, r}
		} else if both := r.Sure.and(u.last.Sure).Length(); both > 0 {
			twice = append(twice, fmt.Sprintf("%s: %s and %s for %v", r.Resource, u.last.Member, r.Member, both))
		}
		if r.Hop < u.highest.Hop {
			older = append(older, fmt.Sprintf("%s: hop %d at %s after %d at %s", r.Resource, r.Hop, r.Member, u.highest.Hop, u.highest.Member))
		} else {
			u.highest = r
		}
		if r.Sure.To >= u.last.Sure.To {
			u.last = r
		}
		byToken[r.Token] = u
	}
	return twice, older
}

// group is what must hold of the members.
func (e Evidence) group(v *verdicts) {
	v.none("daemons that ended by themselves", e.Died)
	v.none("panics and data races in the logs", e.Panics)
	v.none("members that do not answer in the end", e.Stuck)
	v.none("wander runs that did not end when told", e.Hung)
	v.none("views of the membership that differ in the end", e.Views)
	v.none("errors of the run itself", e.Errors)
	var strange []string
	for _, a := range e.Asks {
		if !usual[a.Exit] {
			strange = append(strange, fmt.Sprintf("%s at %s: %d", a.Resource, a.Member, a.Exit))
		}
	}
	v.none("exit codes of wander run that no fault explains", strange)
	var late []string
	longest := time.Duration(0)
	for _, r := range e.Runs {
		if over := r.Sure.To.Sub(r.Deadline); over > 0 && !r.impaired(e.Outages) {
			late = append(late, fmt.Sprintf("%s at %s: %v", r.Resource, r.Member, over))
			longest = max(longest, over)
		}
	}
	v.add(Verdict{
		Name: "longest run beyond its deadline, without a fault there", Value: longest.Seconds(), Unit: "s",
		Max: limit(killMargin.Seconds()), Timing: true, Notes: late,
	})
}

// killMargin is what docs/guarantees.md grants a kill.
const killMargin = 250 * time.Millisecond

// usual are the exit codes that programs, deadlines and faults explain: success,
// no daemon, a machine so slow that no guard starts, not granted, stopped, and the
// signals that end a program or a runner.
var usual = map[int]bool{0: true, 69: true, 71: true, 75: true, 76: true, 128 + 9: true, 128 + 15: true}

// impaired reports whether a fault hit the run's member during it.
func (r Run) impaired(outages []Outage) bool {
	return slices.ContainsFunc(outages, func(o Outage) bool {
		return o.Member == r.Member && o.Span.and(r.Whole).Length() > 0
	})
}

// service is how well a resource was used.
func (e Evidence) service(v *verdicts, r Resource) {
	s := service{verdicts: v, resource: r, runs: before(e.Runs, e.Ended), whole: e.Calm > 0}
	s.spans = spansOf(s.runs, r.Name, whole)
	s.waits = waits(e.Asks, s.runs, e.Outages, r.Name)
	s.add("programs", "", float64(len(s.spans)), nil)
	s.overlap()
	s.tokens(e.Audits)
	s.evenness()
	s.waiting(e.Outages, e.Began, Span{e.Calm, e.Ended})
	s.recovery(e.Outages)
	s.sides(e)
}

// service collects the verdicts on one resource.
type service struct {
	*verdicts
	resource Resource
	runs     []Run  // of all resources
	spans    []Span // in which a program ran, of this one
	waits    []wait
	whole    bool // the run came to its end
}

func (s *service) add(name, unit string, value float64, max *float64, notes ...string) {
	s.verdicts.add(Verdict{Name: name, About: s.resource.Name, Unit: unit, Value: value, Max: max, Timing: max != nil, Notes: notes})
}

// tokens is how many were made, by the last audit.
func (s *service) tokens(audits []Audited) {
	if len(audits) == 0 {
		return
	}
	for _, a := range audits[len(audits)-1].Resources {
		if a.Resource != s.resource.Name {
			continue
		}
		one := Verdict{Name: "tokens made", About: a.Resource, Value: float64(a.Tokens)}
		if s.resource.MaxTokens > 0 {
			one.Max = limit(float64(s.resource.MaxTokens))
		}
		s.verdicts.add(one)
	}
}

// evenness compares how often the members ran that always want to.
func (s *service) evenness() {
	if len(s.resource.Always) < 2 {
		return
	}
	ran := make(map[string]int)
	for _, r := range s.runs {
		if r.Resource == s.resource.Name {
			ran[r.Member]++
		}
	}
	sum, least, who := 0, math.MaxInt, ""
	for _, m := range s.resource.Always {
		if sum += ran[m]; ran[m] < least {
			least, who = ran[m], m
		}
	}
	var most *float64
	if s.resource.MaxUneven > 0 {
		most = limit(s.resource.MaxUneven)
	}
	mean := float64(sum) / float64(len(s.resource.Always))
	s.add("programs of those who always want: mean, over the fewest of one", "", mean/float64(max(least, 1)), most,
		fmt.Sprintf("fewest at %s: %d", who, least))
}

func (s *service) overlap() {
	least, most := Overlap(s.runs, s.resource.Name, 1)
	one := Verdict{Name: "time with two programs or more, at least", About: s.resource.Name, Unit: "s", Value: least.Seconds()}
	if s.resource.Alone {
		one.Max, one.Notes = limit(0), together(s.runs, s.resource.Name)
	}
	s.verdicts.add(one)
	if s.resource.Beside && s.whole {
		none := 0.0
		if least == 0 {
			none = 1
		}
		s.verdicts.add(Verdict{Name: "faults made no two programs run at once, so that the plan shows nothing", About: s.resource.Name, Value: none, Max: limit(0)})
	}
	s.add("time with two programs or more, at most", "s", most.Seconds(), nil)
	if s.resource.Slots > 1 {
		beyond, _ := Overlap(s.runs, s.resource.Name, s.resource.Slots)
		s.add("time with more programs than slots, at least", "s", beyond.Seconds(), nil)
	}
}

func (s *service) waiting(outages []Outage, began clock.Instant, calm Span) {
	var maxStall, maxTurn *float64
	if s.resource.MaxStall > 0 {
		maxStall = limit(s.resource.MaxStall.Seconds())
	}
	if s.resource.MaxTurn > 0 {
		maxTurn = limit(float64(s.resource.MaxTurn))
	}
	stall := longestStall(s.waits, s.spans)
	var when []string
	if stall.Length() > 0 {
		when = []string{fmt.Sprintf("from %.1f s on", stall.From.Sub(began).Seconds())}
	}
	s.add("longest time with somebody waiting and nobody running", "s", stall.Length().Seconds(), maxStall, when...)
	if calm.From > 0 {
		unserved := unservedIn(s.waits, calm)
		s.add("members that waited through the calm at the end", "", float64(len(unserved)), limit(0), unserved...)
	}
	var each []time.Duration
	for _, w := range s.waits {
		each = append(each, w.Length())
	}
	s.add("wait, median", "s", quantile(each, 0.5).Seconds(), nil)
	s.add("wait, 99 %", "s", quantile(each, 0.99).Seconds(), nil)
	s.add("wait, longest", "s", quantile(each, 1).Seconds(), nil)
	if s.resource.Slots == 1 && !s.resource.Several {
		n, took := monopoly(s.waits, s.runs, outages, s.resource.Name)
		s.add("most programs of one member in a row while another waited", "", float64(n), maxTurn, fmt.Sprintf("in %.1f s", took.Seconds()))
	}
}

func (s *service) recovery(outages []Outage) {
	byFault := make(map[string][]time.Duration)
	for _, one := range recoveries(outages, s.waits, s.runs, s.resource.Name) {
		byFault[one.Fault] = append(byFault[one.Fault], one.Took)
	}
	for _, fault := range slices.Sorted(maps.Keys(byFault)) {
		list := byFault[fault]
		s.add("until somebody else ran after "+fault+", longest", "s", quantile(list, 1).Seconds(), nil,
			fmt.Sprintf("%d times, median %.1f s", len(list), quantile(list, 0.5).Seconds()))
	}
}
