//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// recipeSetUp is the page with the group that recipes without a gate share.
const recipeSetUp = "recipes.md"

// withSetUp are the blocks of a page, between those that begin the shared group and the one that ends it.
func withSetUp(t *testing.T, page string) []string {
	t.Helper()
	shared := pageBlocks(t, recipeSetUp)
	last := len(shared) - 1
	return slices.Concat(shared[:last], pageBlocks(t, page), shared[last:])
}

// needs skips a test if a program is not installed. A pattern may have a *.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, pattern := range programs {
		found := false
		for _, dir := range []string{"/usr/bin/", "/usr/sbin/", "/usr/lib/postgresql/*/bin/"} {
			at, _ := filepath.Glob(dir + pattern)
			found = found || len(at) > 0
		}
		if _, err := exec.LookPath(pattern); err != nil && !found {
			t.Skip(pattern + " is not installed")
		}
	}
}

// plainRecipe is a page that goes on from the shared group.
type plainRecipe struct {
	name, page string
	programs   []string // that it needs
	end        string   // ends its services
	wants      []string // patterns of lines
	never      string   // a pattern of what is not to be there
}

var plainRecipes = []plainRecipe{
	{
		"Backup", "recipe-backup.md", []string{"restic"}, "true",
		[]string{"prune has failed beside a backup", "nobody met a lock", "backups of a: 1", "backups of b: 1", "backups of c: 1", "resource    repository: 3 operations.*"},
		"a backup has failed",
	},
	{
		"Dump", "recipe-dump.md", []string{"initdb", "pg_dump"}, "pg_ctl -D data -m immediate stop",
		[]string{"tables in the dump of a: 1", "tables in the dump of b: 1", "tables in the dump of c: 1", "dumps: 3, two at once: 0", "resource    database: 3 operations.*"},
		"a dump has failed",
	},
	{
		"MirrorFTP", "recipe-mirror-ftp.md", []string{"vsftpd", "wget"}, "kill $vsftpd 2> /dev/null",
		[]string{"a has a mirror", "b has a mirror", "c has a mirror", "machines: 3, that came back: 0", "resource    files: 3 operations.*"},
		"a mirror has failed",
	},
	{
		"NetworkTest", "recipe-network-test.md", []string{"iperf3"}, "kill $server 2> /dev/null",
		[]string{"server is busy", "a has measured", "b has measured", "c has measured", "tests at the server: 4", "resource    line: 3 operations.*"},
		"a test has failed",
	},
	{
		"Daily", "recipe-daily.md", nil, "true",
		[]string{"reports: 1", "resource    daily: 1 operation.*"},
		"cron sends a mail|reports: [^1]",
	},
	{
		"Polite", "recipe-polite.md", []string{"nginx", "wget"}, "kill $nginx 2> /dev/null",
		[]string{"a came 3 times", "b came 3 times", "c came 3 times", "bursts: 0", "resource    site: 9 operations.*"},
		"(?m)^[abc] has failed",
	},
}

// TestRecipe_WithoutGate pastes the recipes that use the shared group, each with the real software, as a user that is not root.
func TestRecipe_WithoutGate(t *testing.T) {
	whole.Only(t) // a quarter of a minute each, most of it waiting
	for _, c := range plainRecipes {
		t.Run(c.name, func(t *testing.T) {
			needs(t, c.programs...)
			out := pasteAsSomebody(t, withSetUp(t, c.page), c.end)
			wantLines(t, out, append(c.wants, "verdict     clean.*")...)
			assert.NotRegexp(t, c.never, out)
		})
	}
}

// TestRecipe_Board pastes docs/recipe-board.md, whose jobs run as several users.
func TestRecipe_Board(t *testing.T) {
	whole.Only(t) // a quarter of a minute, most of it waiting
	if os.Getuid() != 0 {
		t.Skip("needs root, to be several users")
	}
	needs(t, "setpriv")
	r := newRecipe(t, withSetUp(t, "recipe-board.md"))
	assert.NoError(t, os.Chmod(r.dir, 0o755)) // for the other users
	out := r.paste("true", nil)
	wantLines(t, out, "refused", "the job that hangs was stopped", "jobs: 7, cut into by others: 0", ` *3 "user":61001`, ` *3 "user":61002`,
		"resource    board: 7 operations.*", "verdict     clean.*")
	assert.NotContains(t, out, "a job has failed")
}
