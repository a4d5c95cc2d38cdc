package experiment

// Experiment reproduces a figure or a group of numbers of a paper.
type Experiment struct {
	// Name is what the command line calls it; it begins with the paper's.
	Name string
	// Title says in one line what is shown.
	Title string
	// Source is where the paper shows it, like "journal paper §3, figure 2".
	Source string
	// Notes explain in the document how the text was read: what it leaves
	// open, what was chosen and why. May be empty; Markdown.
	Notes string
	// Cheap experiments take less than a second for 40 seeds. A test runs them
	// and holds them against the document.
	Cheap bool
	// Run measures, and hands in rows, tables and figures.
	Run func(*Lab) error
}

// All is every experiment, in the order of the document.
func All() []Experiment {
	var all []Experiment
	for _, p := range papers {
		all = append(all, p.experiments()...)
	}
	return all
}

// Find is the experiment of that name.
func Find(name string) (Experiment, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Experiment{}, false
}
