package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/wandertoken/wander/sim/cluster"
)

func main() {
	seeds := flag.Uint64("seeds", 20, "how many runs")
	first := flag.Uint64("first", 0, "the seed of the first")
	out := flag.String("out", ".", "folder for the traces, one file for each token")
	flag.Parse()
	if err := run(*first, *seeds, *out, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run writes the traces of some seeds, and how many lines they have.
func run(first, seeds uint64, out string, report io.Writer) error {
	tokens, lines := 0, 0
	for seed := first; seed < first+seeds; seed++ {
		for i, s := range watch(cluster.Setting{Seed: seed, Mix: mixOf(seed)}) {
			if err := write(filepath.Join(out, fmt.Sprintf("%d-%v-%d.ndjson", seed, mixOf(seed), i)), s); err != nil {
				return err
			}
			tokens, lines = tokens+1, lines+len(s.lines)
		}
	}
	_, err := fmt.Fprintf(report, "%d runs, %d tokens, %d steps\n", seeds, tokens, lines)
	return err
}

// mixOf takes the kinds of members in turn.
func mixOf(seed uint64) cluster.Mix {
	return [...]cluster.Mix{cluster.Durable, cluster.Volatile, cluster.Mixed}[seed%3]
}

// watch runs one seed and returns the stories of the tokens that were released, in
// the order of their birth.
func watch(s cluster.Setting) []*story {
	var moments []cluster.Moment
	s.Watch(func(m cluster.Moment) { moments = append(moments, m) })
	t := newTranslator(fates(moments))
	for i, m := range moments {
		t.moment(i, m)
	}
	return slices.DeleteFunc(t.told, func(s *story) bool {
		return !slices.ContainsFunc(s.lines, func(l line) bool { return l.event == "RELEASE" || l.event == "RETRANSMIT" })
	})
}

func write(name string, s *story) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintf(w, "{\"volatile\":%d}\n", s.volatile())
	for _, l := range s.lines {
		fmt.Fprintln(w, l)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
