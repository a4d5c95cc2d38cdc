package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/spec/conformance"
	"github.com/wandertoken/wander/spec/vector"
)

// conformanceFlags are what the command is told.
type conformanceFlags struct {
	vectors string
	full    bool
	peer    peerFlags
	output  string
}

func newConformanceCommand(env *cli.Environment) *cobra.Command {
	var flags conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance --vectors DIR | --peer ADDRESS --identity DIR",
		Short: "Run the protocol's test vectors, or test a running member",
		Long: `With --vectors, run a folder of test vectors against this program: each has one
input and one outcome, or a scenario for a member. The project's own vectors are in
spec/vectors, whose README describes the files for authors of other implementations.
The command prints one line for each vector that fails. With --full it compares the
hashes over all of their seeded cases, which takes about ten seconds, instead of the
first hundred of each.

With --peer, play a member against a running one, of any implementation, and report
each requirement of the specification that is visible from outside. The member under
test gets some tokens, and meets the behaviour of broken peers: use an identity, a
resource and a group that exist for the test only. docs/conformance.md lists the
checks, and what they leave behind.

The exit code is 1 if a vector or check has failed.`,
		Example: "  wander-lab conformance --vectors spec/vectors --full\n" +
			"  wander-lab conformance --peer 192.0.2.7:4133 --identity ./tester --resource test",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			return runConformance(env, flags)
		},
	}
	cmd.Flags().StringVar(&flags.vectors, "vectors", "", "folder of test vectors")
	cmd.Flags().BoolVar(&flags.full, "full", false, "compare the hashes over all seeded cases")
	cmd.Flags().StringVar(&flags.peer.address, "peer", "", "member to test, host:port")
	cmd.Flags().StringVar(&flags.peer.identity, "identity", "", "folder of the member to play, as wander join makes it; this member must not run")
	cmd.Flags().StringVar(&flags.peer.resource, "resource", "", "resource to make tokens of (default the only one)")
	cmd.Flags().StringVar(&flags.peer.revoked, "revoked", "", "folder of a member that was revoked, for the check that needs one")
	cmd.Flags().StringVar(&flags.peer.expired, "expired", "", "folder of a member whose certificate has expired, for the check that needs one")
	cmd.Flags().StringVar(&flags.peer.newer, "newer", "", "group `FILE` with a newer configuration that lacks the resource, for the check that needs one; the member goes by it afterwards")
	cmd.Flags().StringSliceVar(&flags.peer.only, "check", nil, "run only the check `NAME`; may be repeated (default all)")
	cli.DurationVar(cmd.Flags(), &flags.peer.timeout, "timeout", conformance.DefaultTimeout, "time limit of one check")
	cli.AddOutputFlag(cmd, &flags.output)
	return cmd
}

// check refuses flags that the chosen test does not look at.
func (f *conformanceFlags) check(cmd *cobra.Command) error {
	idle, test := []string{"identity", "resource", "revoked", "expired", "newer", "check", "timeout"}, "--peer"
	if f.peer.address != "" {
		idle, test = []string{"full"}, "--vectors"
	}
	for _, name := range idle {
		if (f.vectors != "" || f.peer.address != "") && cmd.Flags().Changed(name) {
			return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--%s can be combined with %s only", name, test), Hint: "leave it out"}
		}
	}
	return nil
}

func runConformance(env *cli.Environment, flags conformanceFlags) error {
	if err := cli.CheckOutput(flags.output); err != nil {
		return err
	}
	switch {
	case flags.vectors != "" && flags.peer.address != "":
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("--vectors and --peer cannot be combined"), Hint: "give one of them"}
	case flags.vectors != "":
		return runVectors(env, flags)
	case flags.peer.address != "":
		return runPeerConformance(env, flags.peer, flags.output)
	}
	return &cli.Error{
		Code: cli.ExitUsage, Err: errors.New("no test specified"),
		Hint: "wander-lab conformance --vectors DIR runs the test vectors of a folder, --peer ADDRESS tests a running member",
	}
}

// runVectors runs the test vectors of a folder.
func runVectors(env *cli.Environment, flags conformanceFlags) error {
	if info, err := os.Stat(flags.vectors); err != nil {
		return cli.ConfigError(err, "the project's own vectors are in spec/vectors")
	} else if !info.IsDir() {
		return cli.ConfigError(fmt.Errorf("%s is not a folder", flags.vectors), "give --vectors the folder of the test vectors")
	}
	set, err := vector.Load(os.DirFS(flags.vectors))
	if err != nil {
		return cli.ConfigError(fmt.Errorf("%s: %w", flags.vectors, err), "spec/vectors/README.md describes the files")
	}
	run := set.Check
	if flags.full {
		run = set.CheckFull
	}
	report, err := run()
	if err != nil {
		return cli.ConfigError(fmt.Errorf("%s: %w", flags.vectors, err), "spec/vectors/README.md describes keys.json")
	}
	if set.Index == nil {
		cli.Warn(env.Err, "%s has no %s: missing files are not detected", flags.vectors, vector.IndexFile)
	}
	if err := showVectors(env, flags, report); err != nil {
		return err
	}
	if n := len(report.Failures); n > 0 {
		return fmt.Errorf("%d of %d vectors and hashes failed", n, report.Vectors+report.Hashes)
	}
	return nil
}

func showVectors(env *cli.Environment, flags conformanceFlags, r *vector.Report) error {
	if flags.output == "json" {
		return json.NewEncoder(env.Out).Encode(r)
	}
	for _, f := range r.Failures {
		fmt.Fprintln(env.Out, cli.OneLine(fmt.Sprintf("%s: %s: %s", f.File, f.Name, f.Why)))
	}
	_, err := fmt.Fprintf(env.Out, "%d vectors: %d valid, %d refused, %d scenarios; %d hashes over %d cases; %d failed\n",
		r.Vectors, r.Valid, r.Refused, r.Scenarios, r.Hashes, r.Cases, len(r.Failures))
	return err
}
