package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/version"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/member"
)

func newVersionCommand(env *environment) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of program and protocol",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := cli.CheckOutput(output); err != nil {
				return err
			}
			info := versionInfo()
			if output == "json" {
				return json.NewEncoder(env.Out).Encode(info)
			}
			fmt.Fprintf(env.Out, "wander %s, %s, protocol %d (%s), %s %s/%s\n",
				info.Version, info.source(), info.Protocol, info.ALPN, info.Go, runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

type versionReport struct {
	V        int    `json:"v"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // in hex
	Date     string `json:"date,omitempty"`     // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
	Protocol int    `json:"protocol"`
	ALPN     string `json:"alpn"`
	Go       string `json:"go"`
}

func versionInfo() versionReport {
	v := version.Of()
	r := versionReport{
		V: 1, Version: v.Version, Commit: v.Commit, Modified: v.Modified, Protocol: member.ProtocolVersion, ALPN: transport.ALPN, Go: runtime.Version(),
	}
	if !v.Date.IsZero() {
		r.Date = v.Date.UTC().Format(time.RFC3339)
	}
	return r
}

// source says what the program was built from.
func (r versionReport) source() string {
	if r.Commit == "" {
		return "commit unknown"
	}
	text := "commit " + r.Commit + " of " + r.Date
	if r.Modified {
		text += " with changes"
	}
	return text
}
