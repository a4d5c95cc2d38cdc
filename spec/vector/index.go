package vector

import (
	"fmt"
	"maps"
	"slices"
)

// Index is index.json: which files a directory has, so that nothing of it can be
// missing and pass.
type Index struct {
	V     int              `json:"v"`
	About string           `json:"about"`
	Files map[string]Count `json:"files"` // but for the index itself
}

// Count is how much there is in a file.
type Count struct {
	Vectors   int `json:"vectors,omitempty"`
	Scenarios int `json:"scenarios,omitempty"`
}

// check compares the index with the files that were found. Errors: ErrIncomplete.
func (x *Index) check(found []string, files map[string]*File) error {
	found = slices.DeleteFunc(slices.Clone(found), func(name string) bool { return name == IndexFile })
	for _, name := range slices.Sorted(maps.Keys(x.Files)) {
		if !slices.Contains(found, name) {
			return fmt.Errorf("%w: %s lists %s, which is not here", ErrIncomplete, IndexFile, name)
		}
	}
	for _, name := range found {
		if _, ok := x.Files[name]; !ok {
			return fmt.Errorf("%w: %s does not list %s, which is here", ErrIncomplete, IndexFile, name)
		}
	}
	for name, f := range files {
		if has := f.Count(); has != x.Files[name] {
			return fmt.Errorf("%w: %s has %d vectors and %d scenarios, %s says %d and %d",
				ErrIncomplete, name, has.Vectors, has.Scenarios, IndexFile, x.Files[name].Vectors, x.Files[name].Scenarios)
		}
	}
	return nil
}

// Count is how much there is in the file.
func (f *File) Count() Count { return Count{len(f.Vectors), len(f.Scenarios)} }
