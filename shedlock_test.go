package wander_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shedLockCommand is the request of docs/programs.md in the words of ShedLock.
var shedLockCommand = regexp.MustCompile(`(?m)^curl .*min_hold_ms.*$`)

// TestShedLock sends the documented request: the first job is granted and released, and the next one is not due.
func TestShedLock(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	page, err := os.ReadFile("docs/programs.md")
	require.NoError(t, err)
	d := newAlone(t)
	command := strings.NewReplacer("/var/lib/wander/wander.sock", d.socket, `"report"`, `"tape"`).Replace(shedLockCommand.FindString(string(page)))
	require.Contains(t, command, d.socket)
	out := d.says(t, "bash", `
exec 3< <(exec `+command+` 2> /dev/null)
read -r line <&3 && echo "$line"
grant=$(sed 's/.*"grant":{"id":"\([0-9a-f]*\)".*/\1/' <<< "$line")
curl -sS --unix-socket `+d.socket+` --data '{"grant":"'$grant'","operated":true,"exit":0}' http://localhost/v1/release
`+command+` 2> /dev/null`)
	assert.Contains(t, out, `"event":"granted"`)
	assert.Contains(t, out, `"code":"not_due"`)
}
