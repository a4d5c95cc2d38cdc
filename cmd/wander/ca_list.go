package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/protocol/ident"
)

// caReport is what `wander ca list --output json` prints.
type caReport struct {
	V                    int             `json:"v"`
	Group                ident.Group     `json:"group"`
	Name                 string          `json:"name"`
	Expires              time.Time       `json:"expires"` // the CA certificate
	ConfigurationVersion uint64          `json:"configuration_version"`
	RevocationVersion    uint64          `json:"revocation_version"`
	Certificates         []caCertificate `json:"certificates"` // by serial
	Revocations          []caRevocation  `json:"revocations"`  // by version
}

type caCertificate struct {
	Serial    uint64       `json:"serial"`
	Name      string       `json:"name"`
	Member    ident.Member `json:"member"`
	Issued    time.Time    `json:"issued"`
	NotBefore time.Time    `json:"not_before"`
	NotAfter  time.Time    `json:"not_after"`
	State     string       `json:"state"` // valid, not_yet_valid, expired or revoked
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
		Short: "List what the authority has issued and revoked",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return runCAList(env, f, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return cmd
}

func runCAList(env *environment, f *caFlags, output string) error {
	if output != "text" && output != "json" {
		return usageError("--output %q: text or json", output)
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
	s := l.Authority.Statement()
	r := caReport{
		V: 1, Group: s.Group, Name: s.Name, Expires: s.NotAfter,
		ConfigurationVersion: l.Config.Version(), RevocationVersion: l.RevocationVersion,
		Certificates: []caCertificate{}, Revocations: []caRevocation{},
	}
	for _, c := range l.Records {
		r.Certificates = append(r.Certificates, caCertificate{
			Serial: c.Serial, Name: c.Name, Member: c.Member, Issued: c.IssuedAt,
			NotBefore: c.NotBefore, NotAfter: c.NotAfter, State: stateOf(c, now),
		})
	}
	for _, d := range l.Revoked {
		r.Revocations = append(r.Revocations, caRevocation{Version: d.Version, Member: d.Member, Time: d.Time, Reason: d.Reason})
	}
	return r
}

func stateOf(r ca.Record, now time.Time) string {
	switch {
	case r.Revoked != nil:
		return "revoked"
	case now.Before(r.NotBefore):
		return "not_yet_valid"
	case !now.Before(r.NotAfter):
		return "expired"
	}
	return "valid"
}

func (r caReport) print(out io.Writer) error {
	fmt.Fprintf(out, "group %s, %v\n", r.Name, r.Group)
	fmt.Fprintf(out, "configuration %d, revocation list %d, authority valid until %s\n",
		r.ConfigurationVersion, r.RevocationVersion, r.Expires.Format(time.DateOnly))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Certificates) > 0 {
		fmt.Fprintf(table, "\nSERIAL\tNAME\tMEMBER\tVALID UNTIL\tSTATE\n")
	}
	for _, c := range r.Certificates {
		fmt.Fprintf(table, "%d\t%s\t%v\t%s\t%s\n", c.Serial, c.Name, c.Member, c.NotAfter.Format(time.DateTime), c.State)
	}
	if len(r.Revocations) > 0 {
		fmt.Fprintf(table, "\nVERSION\tREVOKED MEMBER\tON\tREASON\n")
	}
	for _, d := range r.Revocations {
		fmt.Fprintf(table, "%d\t%v\t%s\t%s\n", d.Version, d.Member, d.Time.Format(time.DateTime), d.Reason)
	}
	return table.Flush()
}
