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
	// Goals says that the rows are goals of this project and no claims of a
	// paper: they are met or not met. A row without a limit is only measured.
	Goals bool
	// Unlimited says that no row has a limit, so that no verdict can change.
	Unlimited bool
	// Run measures, and hands in rows, tables and figures.
	Run func(*Lab) error
}

// All is every experiment about the papers, in the order of the document.
func All() []Experiment { return experimentsOf(papers) }

func experimentsOf(chapters []paper) []Experiment {
	var all []Experiment
	for _, p := range chapters {
		all = append(all, p.experiments()...)
	}
	return all
}

// Find is the experiment of that name, of All or of Beyond.
func Find(name string) (Experiment, bool) {
	for _, e := range append(All(), Beyond()...) {
		if e.Name == name {
			return e, true
		}
	}
	return Experiment{}, false
}
