package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestPage_Figures_OfEachSubject holds docs/comparison.md to what the bench prints: each kind of figure has its table there, with a row for each
// subject and a cell for each delay. A figure itself is a measurement, and no test repeats it.
func TestPage_Figures_OfEachSubject(t *testing.T) {
	page, err := os.ReadFile("../../docs/comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &plan{delays: []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond}}
	for _, s := range subjects {
		p.clusters = append(p.clusters, &cluster{subject: &subject{name: s.name}})
		for _, kind := range []string{takeAgain, takeOther, handFirst, handNext} {
			for _, d := range p.delays {
				if s != wanderReplaces {
					p.collected.add(kind, s.name, d, time.Millisecond)
				}
			}
		}
		p.collected.rate(idleCPU, s.name, 1)
		if s != wanderReplaces {
			p.collected.add(killClient, s.name, 0, time.Second)
		}
	}
	p.collected.add(killMachine, wanderReplaces.name, 0, time.Second)
	has := rows(string(page))
	for row := range rows(p.collected.tables(p)) {
		if !has[row] {
			t.Errorf("the page has no row %q with %d cells, as the bench prints", row.first, row.cells)
		}
	}
}

// row is a row of a table, without its figures.
type row struct {
	first string
	cells int
}

func rows(page string) map[row]bool {
	found := make(map[row]bool)
	for line := range strings.Lines(page) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") && !strings.HasPrefix(first, "---") {
			found[row{first, strings.Count(line, "|") - 1}] = true
		}
	}
	return found
}

// TestDependencies_Architecture_ListsThem: docs/architecture.md lists what this module and the locker's require, with their versions.
func TestDependencies_Architecture_ListsThem(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	direct := regexp.MustCompile(`(?m)^(?:require)?\s+(\S+) (v\S+)$`)
	shared := regexp.MustCompile(`^(github\.com/wandertoken/wander|golang\.org/x/sys)$`) // in the README's table, or this project's
	for _, file := range []string{"go.mod", "../../clients/gocron/go.mod"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := direct.FindAllStringSubmatch(string(text), -1)
		if len(found) < 2 {
			t.Errorf("%s: requirements are not found", file)
		}
		for _, m := range found {
			row := regexp.MustCompile(`(?m)^\| \[` + regexp.QuoteMeta(m[1]) + `\]\(\S+\) \| ` + regexp.QuoteMeta(m[2]) + ` \|`)
			if !shared.MatchString(m[1]) && !row.Match(page) {
				t.Errorf("docs/architecture.md has no row for %s %s", m[1], m[2])
			}
		}
	}
}
