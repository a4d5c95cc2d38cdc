package credential

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/crypto/keyfile"
)

func TestCheck_Modes_Judged(t *testing.T) {
	const folder = "/run/credentials/wander.service"
	for _, c := range []struct {
		folder, name string
		mode         fs.FileMode
		fine         bool
	}{
		{"", "/etc/wander/member.key", 0o600, true},
		{"", "/etc/wander/member.key", 0o440, false},
		{folder, "/etc/wander/member.key", 0o440, false},
		{folder, folder + "/member.key", 0o400, true},
		{folder, folder + "/member.key", 0o440, true},
		{folder + "/", folder + "/member.key", 0o440, true},
		{folder, folder + "/member.key", 0o444, false},
		{folder, folder + "/member.key", 0o640, false},
		{folder, folder + "/deeper/member.key", 0o440, false},
		{folder, folder + "/member.key", 0o600, true},
	} {
		err := check(c.folder, c.name, c.mode)
		if c.fine {
			assert.NoError(t, err, "%+v", c)
		} else {
			assert.ErrorIs(t, err, keyfile.ErrMode, "%+v", c)
		}
	}
	t.Setenv(folderVariable, folder)
	assert.NoError(t, CheckMode(folder+"/member.key", 0o440))
}
