// Package credential judges who may read a file with a secret.
//
// A service manager can hand a secret to a service as a copy that no other process reads: LoadCredential= of systemd. Its
// folder is in CREDENTIALS_DIRECTORY. Where the service's user is not root, systemd gives that user the file by an access
// control list, and the file's mode then shows the list's mask where the group's permissions are: 0440. The group has none.
package credential

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/crypto/keyfile"
)

// folderVariable names the folder of the service's credentials.
const folderVariable = "CREDENTIALS_DIRECTORY"

// CheckMode refuses, with keyfile.ErrMode, a file that others than its owner may read or change. name is the file's path.
func CheckMode(name string, mode fs.FileMode) error {
	return check(os.Getenv(folderVariable), name, mode)
}

func check(folder, name string, mode fs.FileMode) error {
	if folder != "" && filepath.Dir(name) == filepath.Clean(folder) && mode.Perm()&^0o440 == 0 {
		return nil
	}
	return keyfile.CheckMode(mode)
}
