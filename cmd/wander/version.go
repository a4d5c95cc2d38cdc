package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
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
			fmt.Fprintf(env.Out, "wander %s, protocol %d (%s), %s %s/%s\n",
				info.Version, info.Protocol, info.ALPN, info.Go, runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

type versionReport struct {
	V        int    `json:"v"`
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	ALPN     string `json:"alpn"`
	Go       string `json:"go"`
}

func versionInfo() versionReport {
	r := versionReport{V: 1, Version: "(development)", Protocol: member.ProtocolVersion, ALPN: transport.ALPN, Go: runtime.Version()}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		r.Version = b.Main.Version
	}
	return r
}
