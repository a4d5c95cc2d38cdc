//go:build !unix

package node

import "path/filepath"

// folderID is the folder's path where it has no number: a copy beside it has
// another one.
func folderID(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
