package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
)

func TestAgo_DayOrMore_InDays(t *testing.T) {
	for want, s := range map[string]float64{
		"0.5 s ago": 0.5, "86399.0 s ago": 86_399, "1d ago": 86_400, "1d1h ago": 90_030, "5d ago": 440_000,
	} {
		assert.Equal(t, want, ago(&s))
	}
	assert.Equal(t, "never", ago(nil))
}

// The local users who wait or run are shown, and who asked for what runs; a name only if this machine has one.
func TestPrintStatus_Users_Shown(t *testing.T) {
	var out bytes.Buffer
	self := os.Getpid()
	printStatus(&out, api.Status{
		Name: "a", Users: []api.UserStatus{{User: 0, Programs: 2}, {User: 61001, Programs: 1}},
		Resources: []api.ResourceStatus{{Name: "tape", Slots: []api.SlotStatus{{Held: true, Executing: true, Asker: &api.Asker{User: 61001, Process: int32(self)}}}}},
	}, nil)
	assert.Contains(t, out.String(), fmt.Sprintf("\n            asked for by user 61001, process %d; to stop it: kill %d\n", self, self))
	if runtime.GOOS != "windows" {
		ended := exec.Command(os.Args[0], "-test.run=^$")
		require.NoError(t, ended.Run())
		asker := &api.Asker{User: 61001, Process: int32(ended.Process.Pid)}
		assert.Equal(t, "; there is no such process: if it has ended without the daemon, the token goes on at the deadline", stopText("tape", &api.SlotStatus{Asker: asker}))
	}
	assert.Regexp(t, `\nuser        0( \(root\))?: waiting and running programs: 2\nuser        61001: waiting and running programs: 1\n`, out.String())
	assert.Equal(t, "61001", askerText(api.Asker{User: 61001}), "in another namespace of processes")
	left := 7.0
	assert.Equal(t, "; to end it: wander release reboot", stopText("reboot", &api.SlotStatus{Asker: &api.Asker{Process: 7}, Holder: &api.HolderStatus{AwayS: &left}}),
		"another process may have that number after the restart")
}

func TestPrintResource_NoPlace_Shown(t *testing.T) {
	for place, want := range map[bool]string{
		true:  "resource    tape (ring, e), 2 waiting here\n",
		false: "resource    tape (ring, e), 2 waiting here; no place on the ring, no turns here\n",
	} {
		var out bytes.Buffer
		printResource(&out, api.ResourceStatus{Name: "tape", Policy: "ring", Preset: "e", Waiting: 2, NoPlace: !place}, nil)
		assert.Equal(t, want, out.String())
	}
}

func TestGateText_Unreachable_SaysWhatFollows(t *testing.T) {
	assert.Equal(t, "unreachable: no token is carried there; closed: lost", gateText(api.GateStatus{Said: "closed: lost"}))
	assert.Equal(t, "unreachable: it only observes, and programs run", gateText(api.GateStatus{Observes: true}))
	assert.Equal(t, "reachable; busy, session 3", gateText(api.GateStatus{Reachable: true, Said: "busy", Session: 3}))
}
