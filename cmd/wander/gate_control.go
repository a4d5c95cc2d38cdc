package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/duration"
)

// gatePatience bounds one question to a local gate, and maxGateStatus its answer, in bytes: 64 slots have about 20 kB.
const (
	gatePatience  = 10 * time.Second
	maxGateStatus = 1 << 20
)

func newGateStatusCommand(env *environment) *cobra.Command {
	var dir, output string
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show the slots of a local gate, and what it counts",
		Example: "  wander gate status --dir gate\n  wander gate status --dir gate --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := cli.CheckOutput(output); err != nil {
				return err
			}
			var s driver.Status
			if err := askGate(dir, http.MethodGet, driver.StatusPath, &s); err != nil {
				return err
			}
			if output == "json" {
				return cli.WriteJSON(env.Out, s)
			}
			printGateStatus(env.Out, s)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "/etc/wander", "folder of the gate")
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

func newGateClearCommand(env *environment) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "clear SLOT",
		Short: "Let the close hook of a slot that is stuck run again",
		Long: `Let the close hook of a slot that is stuck run again. First end what works at the
resource: the slot opens when the hook confirms that nothing does.`,
		Example: "  wander gate clear 0 --dir gate",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			slot, err := strconv.Atoi(args[0])
			if err != nil || slot < 0 {
				return cli.UsageError("slot %q: must be a number from 0", args[0])
			}
			if err := askGate(dir, http.MethodPost, driver.ClearPath+"?slot="+url.QueryEscape(args[0]), &struct{}{}); err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "slot %d: the close hook runs again\n", slot)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "/etc/wander", "folder of the gate")
	return cmd
}

// askGate asks a local gate, and reads its answer.
func askGate(dir, method, path string, into any) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, gatePatience)
	defer cancel()
	socket := gateSocket(dir)
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
	defer c.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, "http://gate"+path, nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(request)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err // the address in it is of no machine
		}
		return &cli.Error{Code: cli.ExitUnavailable, Err: fmt.Errorf("no gate answers: %w", err), Hint: "start it with wander gate, or name its folder with --dir"}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxGateStatus))
	if err == nil && answer.StatusCode != http.StatusOK {
		var refused struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(text, &refused)
		return &cli.Error{Code: cli.ExitFailure, Err: errors.New(refused.Error), Hint: "wander gate status shows the slots"}
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

func printGateStatus(w io.Writer, s driver.Status) {
	mode := "enforce"
	if s.Observe {
		mode = "observe"
	}
	fmt.Fprintf(w, "gate        %v of %s, %s, up %s\n", s.Gate.Short(), s.Resource, mode, duration.Format(seconds(s.UptimeS)))
	targets := slices.DeleteFunc([]string{s.Target}, func(text string) bool { return text == "" })
	for _, name := range slices.Sorted(maps.Keys(s.Targets)) {
		targets = append(targets, name+"="+s.Targets[name])
	}
	fmt.Fprintf(w, "listens     %s, for %s\n", s.Address, strings.Join(targets, ", "))
	fmt.Fprintf(w, "group       %v, configuration %d, revocations to %d\n", s.Group, s.Configuration, s.Revocations)
	fmt.Fprintf(w, "members     %s, %s, %s\n", counted.Of(s.Connections, "connection"), counted.Of(s.SignIns, "sign-in"), counted.Of(s.Streams, "stream"))
	if o := s.Windows; o != nil {
		fmt.Fprintf(w, "windows     %s: %s\n", o.Text, windowText(o))
	}
	for _, v := range s.Slots {
		fmt.Fprintf(w, "slot %-6d %s\n", v.Slot, slotText(v))
		if v.HookSaid != "" {
			fmt.Fprintf(w, "            hook %s\n", cli.OneLine(v.HookSaid))
		}
	}
	if n := s.Counts["target_failures"]; n > 0 {
		fmt.Fprintf(w, "warning     the resource could not be reached %s since the start: does it run, and is --target right?\n", counted.Of(n, "time"))
	}
	for _, text := range s.Warnings {
		fmt.Fprintf(w, "warning     %s\n", cli.OneLine(text))
	}
}

// windowText is whether windows are open, and for how long.
func windowText(w *driver.WindowStatus) string {
	text := "open"
	if w.Closed {
		text = "closed"
	}
	if !w.Until.IsZero() {
		text += " until " + w.Until.Format("Mon 2 Jan 15:04 MST")
	}
	return text
}

// slotText is what happens at a slot.
func slotText(v driver.SlotStatus) string {
	text := v.State
	if c := v.Closing; c != nil {
		text += fmt.Sprintf(" (%s): close has until %s", c.Why, c.AtMost.Local().Format(time.DateTime))
		if c.Settles {
			text = fmt.Sprintf("%s (%s): nothing opens before %s", v.State, c.Why, c.AtMost.Local().Format(time.DateTime))
		}
	}
	if v.Member != nil {
		text += fmt.Sprintf(", session %d of %s (%s)", v.Session, cmp.Or(v.Name, "unknown"), v.Member.Short())
		if v.Closing == nil {
			text += " until " + v.Until.Local().Format(time.DateTime)
		}
	}
	if v.Alarm != "" {
		text += ", alarm: " + v.Alarm
	}
	return text
}
