package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// utcTime is how listings show a time, which is in UTC.
const utcTime = time.DateTime + " MST"

// caReport is what `wander ca list --output json` prints.
type caReport struct {
	V                    int             `json:"v"`
	Group                ident.Group     `json:"group"`
	Name                 string          `json:"name"`
	Expires              time.Time       `json:"expires"` // the CA key that signs
	ConfigurationVersion uint64          `json:"configuration_version"`
	RevocationVersion    uint64          `json:"revocation_version"`
	RevocationFloor      uint64          `json:"revocation_floor"` // forgotten by members
	Keys                 []rotationKey   `json:"keys"`             // by number
	Certificates         []caCertificate `json:"certificates"`     // by serial
	Revocations          []caRevocation  `json:"revocations"`      // by version
	Leaves               []caLeave       `json:"leaves"`
	Invites              []caInvite      `json:"invites"`
	Evidence             []caEvidence    `json:"evidence"`
}

type caCertificate struct {
	Serial    uint64           `json:"serial"`
	Name      string           `json:"name"`
	Member    ident.Member     `json:"member"`
	Role      certificate.Role `json:"role"` // member or gate
	Class     string           `json:"class,omitempty"`
	Issued    time.Time        `json:"issued"`
	NotBefore time.Time        `json:"not_before"`
	NotAfter  time.Time        `json:"not_after"`
	State     string           `json:"state"` // valid, not_yet_valid, expired, key_retired, left or revoked
	Key       int              `json:"ca_key"`
}

type caLeave struct {
	Member ident.Member `json:"member"`
	Time   time.Time    `json:"time"` // when the authority heard of it
}

type caInvite struct {
	ID      ca.InviteID      `json:"id"`
	Name    string           `json:"name"`
	Role    certificate.Role `json:"role"`
	Class   string           `json:"class,omitempty"`
	Made    time.Time        `json:"made"`
	Expires time.Time        `json:"expires"`
	State   string           `json:"state"` // open, used, cancelled or expired
	Member  *ident.Member    `json:"member,omitempty"`
}

type caEvidence struct {
	ID      ident.Hash    `json:"id"`
	Kind    string        `json:"kind"`
	Member  ident.Member  `json:"member"` // the accused
	Name    string        `json:"name"`
	From    *ident.Member `json:"from,omitempty"` // who brought it; nobody: the operator
	Time    time.Time     `json:"time"`
	File    string        `json:"file"` // in the authority's folder
	Revoked bool          `json:"revoked"`
}

type caRevocation struct {
	Version uint64       `json:"version"`
	Member  ident.Member `json:"member"`
	Time    time.Time    `json:"time"`
	Reason  string       `json:"reason"`
}

func newCAListCommand(env *environment, f *caFlags) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what the authority has signed: keys, certificates, revocations, leaves, invites, and evidence",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return runCAList(env, f, output) },
	}
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

func runCAList(env *environment, f *caFlags, output string) error {
	if err := cli.CheckOutput(output); err != nil {
		return err
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	l, err := a.List()
	if err != nil {
		return caError(err)
	}
	r := newCAReport(l, env.Now())
	if output == "json" {
		return json.NewEncoder(env.Out).Encode(r)
	}
	return r.print(env.Out)
}

func newCAReport(l ca.Listing, now time.Time) caReport {
	s := l.Authority.Body()
	r := caReport{
		V: 1, Group: s.Group, Name: s.Name, Expires: s.NotAfter,
		ConfigurationVersion: l.Config.Version(), RevocationVersion: l.RevocationVersion,
		RevocationFloor: l.Config.Settings().RevocationFloor, Keys: rotationKeys(l.Keys),
		Certificates: []caCertificate{}, Revocations: []caRevocation{}, Leaves: []caLeave{}, Invites: []caInvite{}, Evidence: newCAEvidence(l),
	}
	for _, c := range l.Records {
		r.Certificates = append(r.Certificates, caCertificate{
			Serial: c.Serial, Name: c.Name, Member: c.Member, Role: c.Role, Class: c.Class, Issued: c.IssuedAt,
			NotBefore: c.NotBefore, NotAfter: c.NotAfter, State: stateOf(c, l.Keys, now), Key: c.Key,
		})
	}
	for _, d := range l.Revoked {
		r.Revocations = append(r.Revocations, caRevocation{Version: d.Version, Member: d.Member, Time: d.Time, Reason: d.Reason})
	}
	for _, gone := range l.Left {
		r.Leaves = append(r.Leaves, caLeave{Member: gone.Member, Time: gone.Time})
	}
	for _, i := range l.Invites {
		r.Invites = append(r.Invites, newCAInvite(i, now))
	}
	return r
}

func newCAEvidence(l ca.Listing) []caEvidence {
	dead := make(map[ident.Member]bool)
	for _, r := range l.Revoked {
		dead[r.Member] = true
	}
	list := []caEvidence{}
	for _, e := range l.Evidence {
		shown := caEvidence{
			ID: e.ID, Kind: e.Kind.String(), Member: e.Accused, Name: e.Name, Time: e.Time, File: e.File, Revoked: dead[e.Accused],
		}
		if !e.From.IsZero() {
			shown.From = &e.From
		}
		list = append(list, shown)
	}
	return list
}

func stateOf(r ca.Record, keys []ca.Key, now time.Time) string {
	switch {
	case r.Revoked != nil:
		return "revoked"
	case r.Left != nil:
		return "left"
	case now.Before(r.NotBefore):
		return "not_yet_valid"
	case !now.Before(r.NotAfter):
		return "expired"
	case keys[r.Key-1].Use == ca.Retired:
		return "key_retired"
	}
	return "valid"
}

func newCAInvite(i ca.Invite, now time.Time) caInvite {
	shown := caInvite{ID: i.ID, Name: i.Name, Role: i.Role, Class: i.Class, Made: i.Made, Expires: i.Expires, State: "open"}
	switch {
	case !i.Member.IsZero():
		shown.State, shown.Member = "used", &i.Member
	case !i.Cancelled.IsZero():
		shown.State = "cancelled"
	case !i.Open(now):
		shown.State = "expired"
	}
	return shown
}

func (r caReport) print(out io.Writer) error {
	fmt.Fprintf(out, "group %s, %v\n", r.Name, r.Group)
	fmt.Fprintf(out, "configuration %d, revocation list %d, authority valid until %s\n",
		r.ConfigurationVersion, r.RevocationVersion, r.Expires.Format(time.DateOnly))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\nCA KEY\tFINGERPRINT\tVALID UNTIL\tUSE\n")
	for _, k := range r.Keys {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", k.Number, k.Fingerprint, k.Expires.Format(utcTime), k.Use)
	}
	r.printMembers(table)
	return table.Flush()
}

// roleText is what a certificate makes of its key, with the class that it has.
func roleText(r certificate.Role, class string) string {
	if class == "" {
		return r.String()
	}
	return r.String() + " (" + class + ")"
}

func (r caReport) printMembers(table io.Writer) {
	if len(r.Certificates) > 0 {
		fmt.Fprintf(table, "\nSERIAL\tNAME\tROLE\tMEMBER\tVALID UNTIL\tSTATE\n")
	}
	for _, c := range r.Certificates {
		fmt.Fprintf(table, "%d\t%s\t%v\t%v\t%s\t%s\n", c.Serial, c.Name, roleText(c.Role, c.Class), c.Member, c.NotAfter.Format(utcTime), c.State)
	}
	if len(r.Revocations) > 0 {
		fmt.Fprintf(table, "\nVERSION\tREVOKED MEMBER\tON\tREASON\n")
	}
	for _, d := range r.Revocations {
		fmt.Fprintf(table, "%d\t%v\t%s\t%s\n", d.Version, d.Member, d.Time.Format(utcTime), d.Reason)
	}
	if len(r.Leaves) > 0 {
		fmt.Fprintf(table, "\nMEMBER THAT LEFT\tON\n")
	}
	for _, gone := range r.Leaves {
		fmt.Fprintf(table, "%v\t%s\n", gone.Member, gone.Time.Format(utcTime))
	}
	if len(r.Evidence) > 0 {
		fmt.Fprintf(table, "\nEVIDENCE AGAINST\tMEMBER\tCAME\tSTATE\tKIND\tFILE\n")
	}
	for _, e := range r.Evidence {
		state := "open"
		if e.Revoked {
			state = "revoked"
		}
		fmt.Fprintf(table, "%s\t%v\t%s\t%s\t%s\t%s\n", e.Name, e.Member, e.Time.Format(utcTime), state, e.Kind, e.File)
	}
	if len(r.Invites) > 0 {
		fmt.Fprintf(table, "\nINVITE\tNAME\tROLE\tEXPIRES\tSTATE\n")
	}
	for _, i := range r.Invites {
		fmt.Fprintf(table, "%v\t%s\t%v\t%s\t%s\n", i.ID, i.Name, roleText(i.Role, i.Class), i.Expires.Format(utcTime), i.State)
	}
}
