package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// gatedGroup is a group's file with a gate.
func gatedGroup(gate fmt.Stringer, more string) string {
	return smallGroup + fmt.Sprintf("gate = %q\ngate_address = \"gate.example.org:4136\"\n%s", gate, more)
}

// A machine becomes a gate by its invite, is shown as one everywhere, and runs no member.
func TestGate_Invited_JoinsAsGate(t *testing.T) {
	b := started(t)
	s := b.serve()
	var r inviteReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "invite", "--name", "front", "--gate", "--address", s.address, "--output", "json")), &r))
	assert.Equal(t, certificate.GateRole, r.Role)
	line := b.must("ca", "invite", "--name", "gate-ftp", "--gate", "--address", s.address)
	assert.Contains(t, b.err.String(), "on the machine that is to be gate gate-ftp: wander join INVITE")
	out := b.must("join", line, "--dir", "g")
	id := b.identity("g")
	assert.Equal(t, certificate.GateRole, id.Certificate.Role())
	for _, says := range []string{
		"joined group demo as gate gate-ftp\n", "gate   " + id.Certificate.Member().String() + ", certificate 1, valid until 2026-03-08",
		"g/member.key, g/member.crt, g/group.crt, g/wander.toml\n",
		"give the resource gate = \"" + id.Certificate.Member().String() + "\" and its gate_address",
		"next: wander gate --dir g --resource NAME --target HOST:PORT --close COMMAND --floor 0 ",
	} {
		assert.Contains(t, out, says)
	}
	assert.NotContains(t, out, "wander node")
	text, err := os.ReadFile("g/wander.toml")
	require.NoError(t, err)
	assert.NotContains(t, string(text), "4133", "a gate listens where its own settings say")
	assert.Equal(t, []string{s.address}, b.settings("g/wander.toml").CA.Address)
	again := b.must("join", line, "--dir", "g")
	assert.Contains(t, again, "g is gate gate-ftp already")
	assert.Contains(t, again, "next: wander gate --dir g --resource NAME --target HOST:PORT --close COMMAND --floor 0 ")

	b.fails(78, "certificate of another role: gate-ftp is a gate", "node", "--config", "g/wander.toml")
	assert.Contains(t, b.err.String(), "hint: run the gate in its place: wander gate --dir g\n")
	b.vars["WANDER_IDENTITY_CERTIFICATE"] = filepath.Join(b.dir, "g/member.crt")
	b.vars["WANDER_IDENTITY_KEY"] = filepath.Join(b.dir, "g/member.key")
	b.vars["WANDER_IDENTITY_GROUP"] = filepath.Join(b.dir, "g/group.crt")
	b.vars["WANDER_STATE_DIR"] = filepath.Join(b.dir, "g/state")
	assert.Equal(t, 69, b.wander("run", "ftp", "true"))
	assert.Contains(t, b.err.String(), "this machine is gate gate-ftp, which has no grants to give: run wander gate here, and wander run on a member")
	clear(b.vars)

	assert.Regexp(t, `1 +gate-ftp +gate +`+id.Certificate.Member().String(), b.must("ca", "list"))
	assert.Regexp(t, `front +gate .* open`, b.out.String())
	var list caReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "list", "--output", "json")), &list))
	assert.Equal(t, certificate.GateRole, list.Certificates[0].Role)
	assert.Contains(t, b.must("cert", "status", "--config", "g/wander.toml"), "gate        gate-ftp ("+id.Certificate.Member().String()+")\n")
	var status certReport
	require.NoError(t, json.Unmarshal([]byte(b.must("cert", "status", "--config", "g/wander.toml", "--output", "json")), &status))
	assert.Equal(t, certificate.GateRole, status.Role)
	inspected := b.must("inspect", "--group", "g/group.crt", "g/member.crt")
	assert.Contains(t, inspected, "certificate of gate "+id.Certificate.Member().String()+" (verified)")
	assert.Contains(t, inspected, "role: gate\n")

	// It renews as members do, and stays a gate.
	s.stop()
	b.now = b.now.Add(6 * 24 * time.Hour)
	b.vars["WANDER_CA_ADDRESS"] = b.serve().address
	b.must("cert", "renew", "--config", "g/wander.toml")
	renewed := b.identity("g").Certificate
	assert.Equal(t, certificate.GateRole, renewed.Role())
	assert.Equal(t, id.Certificate.Member(), renewed.Member())
	assert.Equal(t, b.now.Add(7*24*time.Hour).Unix(), renewed.Body().NotAfter.Unix())
}

// Without a network a request becomes a gate's certificate.
func TestGate_Offline_JoinsAsGate(t *testing.T) {
	b := started(t)
	b.must("join", "--request", "--name", "gate-ftp", "--group", "ca/group.crt", "--dir", "g")
	assert.Contains(t, b.must("ca", "issue", "--gate", "--request", "g/member.req"), "\ngate ")
	assert.Contains(t, b.must("join", "--install", "gate-ftp.crt", "--group", "ca/group.crt", "--dir", "g", "--advertise", "a:1"), "next: wander gate --dir g --resource NAME --target HOST:PORT --close COMMAND --floor 0 ")
	assert.Contains(t, b.err.String(), "this is a gate: --advertise, --resource and the command are a member's and were left out")
	gate := b.identity("g").Certificate
	assert.Equal(t, certificate.GateRole, gate.Role())
	assert.Equal(t, 7*24*time.Hour, gate.Body().NotAfter.Sub(gate.Body().IssuedAt))

	// Its key is a gate's from now on.
	b.fails(64, "renew that key with its own role: --gate for a gate", "ca", "issue", "--name", "gate-ftp", "--key", "gate-ftp.crt", "--out", "again")
	b.must("ca", "issue", "--gate", "--name", "gate-ftp", "--key", "gate-ftp.crt", "--lifetime", "1d", "--out", "again")
	b.must("ca", "issue", "--gate", "--name", "other")
	b.must("ca", "issue", "--name", "m")
	assert.Equal(t, certificate.MemberRole, b.certificate("m.crt").Role())
	b.fails(64, "--gate for a gate", "ca", "issue", "--gate", "--name", "m", "--key", "m.crt")
}

type name string

func (n name) String() string { return string(n) }

// The authority signs and shows what the group's file says about a gate that it has certified.
func TestCAConfig_Gate_Signed(t *testing.T) {
	b := started(t)
	b.must("ca", "issue", "--gate", "--name", "gate-ftp", "--out", "g")
	b.must("ca", "issue", "--name", "m")
	b.must("ca", "issue", "--gate", "--name", "old")
	g, _ := b.group()
	gate, err := readCertificate("g.crt", g)
	require.NoError(t, err)
	old, err := readCertificate("old.crt", g)
	require.NoError(t, err)
	member := b.certificate("m.crt").Member()

	b.must("ca", "revoke", "old", "--reason", "sold")
	for _, c := range []struct{ name, text, says string }{
		{"member", gatedGroup(member, ""), member.String() + " is member m\nhint: give the id of a gate, as wander ca list shows it; wander ca invite --gate makes one"},
		{"nobody", gatedGroup(g.ID(), ""), "bad.toml:6:8: resource.gate"},
		{"name", gatedGroup(name("gate-ftp"), ""), "hint: gate is an id, not a name: gate = \"" + gate.Member().String() + "\"\n"},
		{"unknown name", gatedGroup(name("ftp"), ""), "resource.gate: malformed id"},
		{"stranger", gatedGroup((ident.Member{7}), ""), "not a gate of this group: " + (ident.Member{7}).String() + " has no certificate of this authority\nhint: give the id of a gate"},
		{"revoked", gatedGroup(old.Member(), ""), "not a gate of this group: member has been revoked"},
		{"uncoordinated", gatedGroup(gate.Member(), "policy = \"uncoordinated\"\nmin_interval = \"1m\"\n"),
			"bad.toml:6:8: resource \"ftp\": invalid gate of a resource: policy uncoordinated has no tokens that a gate could ask for; leave out gate\n"},
		{"no gate", smallGroup + "settle = \"2s\"\n", "gate is missing, which the other settings of a gate need"},
		{"no address", smallGroup + fmt.Sprintf("gate = %q\n", gate.Member()), "gate_address: invalid address"},
		{"mode", gatedGroup(gate.Member(), "gate_mode = \"off\"\n"), "bad.toml:8:13: resource.gate_mode: setting out of range: gate_mode is \"off\", permitted are enforce, observe"},
		{"settle", gatedGroup(gate.Member(), "settle = \"0s\"\n"), "bad.toml:8:10: resource \"ftp\": setting out of range: settle is 0s, permitted are 1ms to 10m"},
		{"sessions", gatedGroup(gate.Member(), "gate_sessions = 2\n"), "bad.toml:8:17: resource \"ftp\": invalid gate of a resource: gate_sessions is 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			b.write("bad.toml", c.text)
			b.fails(78, c.says, "ca", "config", "bad.toml")
			b.fails(78, c.says, "ca", "config", "--dry-run", "bad.toml")
		})
	}
	b.t = t

	b.write("group.toml", gatedGroup(gate.Member(), "gate_mode = \"observe\"\ngate_min_interval = \"30s\"\nsettle = \"3s\"\ngate_revocation_max_age = \"1h\"\n"))
	out := b.must("ca", "config", "group.toml")
	assert.Contains(t, out, "ftp: has a gate, gate-ftp ("+gate.Member().Short()+") at gate.example.org:4136; it observes: programs do not wait for it, and it cuts nothing\n")
	signed, _ := b.group()
	r, _ := signed.Config().Resource("ftp")
	assert.Equal(t, group.Gate{
		Member: gate.Member(), Address: "gate.example.org:4136", Mode: group.Observe, MinInterval: 30 * time.Second, Settle: 3 * time.Second,
		Sessions: 1, RevocationMaxAge: time.Hour, Keep: 2 * time.Second, OpenTimeout: 5 * time.Second, CloseTimeout: 10 * time.Second,
	}, r.Gate)
	shown := b.must("inspect", "ca/group.crt")
	for _, says := range []string{"gate: " + gate.Member().String(), "gate_address: gate.example.org:4136", "gate_mode: observe", "settle: 3s", "gate_keep: 2s"} {
		assert.Contains(t, shown, says)
	}
	assert.Contains(t, b.must("ca", "config", "--help"), "gate_close_timeout    default 10s, permitted 1ms to 1h")
	b.write("group.toml", gatedGroup(gate.Member(), "settle = \"4s\"\n"))
	out = b.must("ca", "config", "group.toml")
	assert.Contains(t, out, "ftp: the gate has another mode; it enforces: a program waits for a session there, and what comes without one is cut\n")
	for _, says := range []string{"gate_min_interval is 0s, and was 30s", "settle is 4s, and was 3s", "gate_revocation_max_age is 0s, and was 1h"} {
		assert.Contains(t, out, "ftp: "+says+", as soon as the gate has this configuration\n")
	}
	assert.NotContains(t, out, "the gate is")
	assert.NotContains(t, out, "the windows are others")
	b.write("group.toml", gatedGroup(gate.Member(), "settle = \"4s\"\nwindows = [\"Mon-Sun 00:00-12:00 UTC\"]\n"))
	out = b.must("ca", "config", "group.toml")
	assert.Contains(t, out, "ftp: the windows are others: as soon as the gate has this configuration, a session outside them ends, and its program is killed\n")
	b.write("group.toml", strings.Replace(gatedGroup(gate.Member(), "settle = \"4s\"\n"), "4136", "4137", 1))
	assert.Contains(t, b.must("ca", "config", "group.toml"), "ftp: the gate is gate-ftp ("+gate.Member().Short()+") at gate.example.org:4137, and was gate-ftp (")
	b.write("group.toml", strings.Replace(smallGroup, `"ftp"`, `"tape"`, 1))
	assert.Contains(t, b.must("ca", "config", "group.toml"), "ftp: no gate any more", "a resource that leaves")
	b.write("group.toml", gatedGroup(gate.Member(), ""))
	b.must("ca", "config", "group.toml")
	b.write("group.toml", smallGroup)
	assert.Contains(t, b.must("ca", "config", "group.toml"), "ftp: no gate any more: programs begin without a session")
	assert.Contains(t, b.must("inspect", "ca/group.crt"), "gate: none\n", "the resource has no gate any more")
}
