package groupfile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Check checks the resource at the path in a file. Its error is a *configfile.Error
// with the place of what is wrong.
func (f Resource) Check(file string, text []byte, path ...any) error {
	r := f.Group()
	err := cmp.Or(r.Validate(), catalog.Check(r.Policy, r.PolicyParams()))
	if err == nil {
		return nil
	}
	// Only now is it worth a second look at the text: there may be a thousand
	// resources in it.
	keys := configfile.Names(text, path...)
	if missing := f.CheckGiven(keys); missing != nil {
		err = missing
	}
	if f.Name == "" && !slices.Contains(keys, "name") {
		err = fmt.Errorf("name %w", errMissing)
	}
	if f.Name != "" {
		err = fmt.Errorf("resource %q: %w", f.Name, err)
	}
	return Placed(file, text, err, PolicyHint(r, err), path...)
}

// errMissing says that a file lacks a key that has no default.
var errMissing = errors.New("must be given")

// CheckGiven refuses a resource whose keys lack a parameter without default.
func (f Resource) CheckGiven(keys []string) error {
	r := f.Group()
	for _, p := range policy.Parameters {
		if !p.Optional && p.Wire(&r.Params) == 0 && !slices.Contains(keys, p.Name) {
			return fmt.Errorf("%s %w", p.Name, errMissing)
		}
	}
	return nil
}

// Placed returns an error about a table of a file, at the key that its text names:
// all errors about settings do that.
func Placed(file string, text []byte, err error, hint string, path ...any) error {
	at := slices.Clone(path)
	if key := Mentioned(err.Error(), configfile.Names(text, path...)); key != "" {
		at = append(at, key)
	}
	e := configfile.At(file, text, err.Error(), at...)
	e.Hint = hint
	return e
}

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	keyWord    = regexp.MustCompile(`[a-z_]+`)
)

// Mentioned returns the key that a text names last, outside quotes, "" if none. The
// word name also occurs in texts about other keys.
func Mentioned(text string, keys []string) string {
	var found string
	for _, word := range keyWord.FindAllString(quotedText.ReplaceAllString(text, ""), -1) {
		if slices.Contains(keys, word) && (word != "name" || found == "") {
			found = word
		}
	}
	return found
}

// PolicyHint names what may be set instead of an unknown policy or preset, or of a
// parameter without effect.
func PolicyHint(r group.Resource, err error) string {
	presets := catalog.Presets(r.Policy)
	var names []string
	for _, p := range presets {
		names = append(names, p.Name)
	}
	i := max(0, slices.Index(names, r.Preset))
	switch {
	case len(presets) == 0:
		return cli.DidYouMean(r.Policy, catalog.Names())
	case r.Preset != "" && !slices.Contains(names, r.Preset):
		return cli.DidYouMean(r.Preset, names)
	case !errors.Is(err, policy.ErrUnused):
		return ""
	case len(presets[i].Uses) == 0:
		return fmt.Sprintf("preset %s of policy %s has no parameters of its own", presets[i].Name, r.Policy)
	}
	return fmt.Sprintf("preset %s of policy %s uses %s", presets[i].Name, r.Policy, strings.Join(presets[i].Uses, ", "))
}
