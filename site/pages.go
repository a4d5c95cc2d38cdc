package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Errors of a build. Each names the page.
var (
	ErrMissing = errors.New("the page is missing from the list of sections in site/pages.go")
	ErrTwice   = errors.New("the page is listed twice in site/pages.go")
	ErrNoPage  = errors.New("site/pages.go lists a page that does not exist")
	ErrLink    = errors.New("the link leads nowhere")
	ErrMarkup  = errors.New("the site's builder does not know this markup")
	ErrFolder  = errors.New("the folder has files that are not of the site: choose a new one")
)

// section is one part of the site's navigation.
type section struct {
	title   string
	entries []entry
}

// entry is a page in the navigation, or a place in one. The first entry of a page without an anchor is where the page stands in the order.
type entry struct{ file, anchor, title string }

// sections are all pages, in the order in which a newcomer needs them. An entry without a title has that of its page.
var sections = []section{
	{"Install", []entry{{"docs/install.md", "", "From a package"}, {"README.md", "", "Build it, and see a demo"}}},
	{"Five minutes", []entry{
		{"README.md", "five-members-one-pasted-line-each", "Five members, one line each"},
		{"docs/guarantees.md", "", "What it promises, and what not"},
	}},
	{"Recipes", []entry{
		{"docs/recipes.md", "", "Recipes"}, {"docs/recipe-backup.md", "", "Nightly backups"}, {"docs/recipe-dump.md", "", "Database dumps"},
		{"docs/recipe-mirror-ftp.md", "", "FTP mirror"}, {"docs/recipe-network-test.md", "", "Network tests"}, {"docs/recipe-daily.md", "", "Once a day, somewhere"},
		{"docs/recipe-reboot.md", "", "Reboots"}, {"docs/recipe-polite.md", "", "Polite mirror"}, {"docs/recipe-board.md", "", "Jobs on a board"},
		{"docs/recipe-postgresql.md", "", "PostgreSQL behind a gate"}, {"docs/recipe-ssh.md", "", "ssh and rsync behind a gate"},
		{"docs/recipe-nginx.md", "", "nginx behind a gate"}, {"docs/recipe-ftp.md", "", "FTP behind a gate"},
		{"docs/programs.md", "", "Programs"}, {"docs/comparison.md", "", "Beside other locks"},
	}},
	{"Operate", []entry{
		{"docs/troubleshooting.md", "", ""}, {"docs/doctor.md", "", ""}, {"docs/page.md", "", "The daemon's page"}, {"docs/ca.md", "", ""},
		{"docs/membership.md", "", ""}, {"docs/recovery.md", "", ""}, {"docs/metrics.md", "", ""}, {"docs/journal.md", "", "The journal"},
		{"docs/audit.md", "", "Auditing"}, {"docs/evidence.md", "", ""}, {"SECURITY.md", "", ""}, {"CHANGELOG.md", "", ""},
	}},
	{"Reference", []entry{
		{"docs/configuration.md", "", ""}, {"docs/policies.md", "", ""}, {"docs/gate.md", "", ""}, {"docs/permits.md", "", ""},
		{"docs/exclusion.md", "", ""}, {"docs/glossary.md", "", ""}, {"docs/architecture.md", "", ""}, {"CONTRIBUTING.md", "", ""},
		{"docs/site.md", "", ""},
	}},
	{"Specification", []entry{
		{"spec/README.md", "", "Overview"}, {"spec/protocol.md", "", ""}, {"spec/handoff-sequence.md", "", ""}, {"spec/membership.md", "", ""},
		{"spec/policy/common.md", "", "Policies"}, {"spec/policy/wandering.md", "", ""}, {"spec/policy/multitoken.md", "", ""},
		{"spec/policy/ring.md", "", ""}, {"spec/policy/uncoordinated.md", "", ""}, {"spec/policy/keeper.md", "", ""}, {"spec/policy/quorum.md", "", ""},
		{"spec/journal.md", "", ""}, {"spec/permit.md", "", ""}, {"spec/gate.md", "", "Gates"}, {"spec/gate-member.md", "", ""},
		{"spec/enrolment.md", "", ""}, {"spec/dial-back.md", "", ""}, {"spec/api.md", "", ""}, {"spec/limits.md", "", ""}, {"spec/refusals.md", "", ""}, {"spec/examples.md", "", ""},
		{"spec/vectors/README.md", "", "Test vectors"}, {"spec/threat-model.md", "", ""}, {"spec/model/README.md", "", ""},
		{"docs/conformance.md", "", ""}, {"fuzz/README.md", "", ""},
	}},
	{"Science", []entry{
		{"docs/reproduction.md", "", ""}, {"docs/beyond.md", "", "Beyond the papers"}, {"spec/papers.md", "", ""}, {"docs/register.md", "", "Register"},
		{"docs/simulation.md", "", ""}, {"docs/benchmarks.md", "", ""}, {"docs/soak.md", "", "Soak runs"}, {"docs/faults.md", "", ""},
		{"docs/data/README.md", "", ""},
	}},
}

// outline is the pages' files in the order of the sections. It refuses a list that lacks a page of the repository.
func outline(root fs.FS, list []section) ([]string, error) {
	var files []string
	var errs []error
	for _, s := range list {
		for _, e := range s.entries {
			switch {
			case slices.Contains(files, e.file) && e.anchor == "":
				errs = append(errs, fmt.Errorf("%s: %w", e.file, ErrTwice))
			case !slices.Contains(files, e.file):
				files = append(files, e.file)
			}
		}
	}
	written, err := documents(root)
	if err != nil {
		return nil, err
	}
	for _, f := range written {
		if !slices.Contains(files, f) {
			errs = append(errs, fmt.Errorf("%s: %w", f, ErrMissing))
		}
	}
	for _, f := range files {
		if _, err := fs.Stat(root, f); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f, ErrNoPage))
		}
	}
	return files, errors.Join(errs...)
}

// documents are the Markdown files that belong on the site: those of the repository's folder, and of docs/ and spec/ with what is below.
func documents(root fs.FS) ([]string, error) {
	list, err := fs.Glob(root, "*.md")
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"docs", "spec"} {
		err := fs.WalkDir(root, folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case !d.IsDir() && path.Ext(name) == ".md":
				list = append(list, name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%w: run the command in the folder of the repository", err)
		}
	}
	return list, nil
}

// address is where a page is on the site, from its top.
func address(file string) string { return strings.TrimSuffix(file, ".md") + ".html" }

// relative is how a page refers to another file of the site.
func relative(from, to string) string {
	for {
		folder, rest, below := strings.Cut(from, "/")
		if !below || !strings.HasPrefix(to, folder+"/") {
			return strings.Repeat("../", strings.Count(from, "/")) + to
		}
		from, to = rest, strings.TrimPrefix(to, folder+"/")
	}
}
