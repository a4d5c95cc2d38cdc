package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
)

// theCA is the argument that asks for the authority.
const theCA = "CA"

type doctorFlags struct{ config, socket, output string }

func newDoctorCommand(env *environment) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [PEER|CA]",
		Short: "Check machine, network, certificate and clock, and say what to mend",
		Long: `Check what an operator can mend: files, disk, clock, certificate, UDP in both directions, path MTU,
receive buffer, NAT, gates. With the name, id or host:port of a member, dial that one; with CA, ask the
authority, which takes from the few requests a minute that it grants each member. Without a daemon,
check files, disk, certificate and the authority.

Each check is ok, warn, fail or skipped, with what was found and one line of advice. Exit code 69: a
check failed.`,
		Example: "  wander doctor\n  wander doctor m3\n  wander doctor 192.0.2.7:4133\n  wander doctor CA --output json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cli.CheckOutput(f.output); err != nil {
				return err
			}
			return runDoctor(env, f, args)
		},
	}
	cli.AddOutputFlag(cmd, &f.output)
	addSocketFlag(cmd.Flags(), &f.socket)
	cmd.Flags().StringVarP(&f.config, "config", "c", "", "settings file of the daemon (default "+defaultConfigFile+")")
	return cmd
}

func runDoctor(env *environment, f doctorFlags, args []string) error {
	s, err := loadSettings(env, f.config)
	if err != nil {
		return err
	}
	socket := f.socket
	switch {
	case socket == "" && f.config != "":
		socket = s.socket()
	case socket == "":
		if socket, err = socketPath(env, ""); err != nil {
			return err
		}
	}
	var list []api.Check
	switch {
	case len(args) == 0:
		list = examine(env, &s, socket, settingsOrigin(env, f.config))
	case args[0] == theCA:
		list = []api.Check{examineCA(env, &s, api.Fail)}
	default:
		err = inquire(env, socket, func(ctx context.Context, c *api.Client) (err error) {
			list, err = c.Probe(ctx, api.ProbeRequest{Peer: args[0]})
			return err
		})
		if errors.Is(err, api.ErrBadRequest) {
			return &cli.Error{Code: cli.ExitUsage, Err: errors.New(strings.TrimPrefix(err.Error(), api.ErrBadRequest.Error()+": ")), Hint: "a gate is no member: look at it by wander gate status on its machine"}
		}
		if err != nil {
			return err
		}
	}
	if f.output == "json" {
		err = cli.WriteJSON(env.Out, api.Checkup{V: api.Version, Checks: list})
	} else {
		printChecks(env.Out, list)
	}
	if err == nil && doctor.Failed(list) {
		err = &cli.Error{Code: cli.ExitUnavailable, Err: errors.New("")}
	}
	return err
}

func printChecks(w io.Writer, list []api.Check) {
	width := 0
	for _, c := range list {
		width = max(width, len(c.Name))
	}
	for _, c := range list {
		fmt.Fprintf(w, "%-7s  %-*s  %s\n", c.Result, width, c.Name, cli.OneLine(c.Finding))
		if c.Advice != "" {
			fmt.Fprintf(w, "%-7s  %-*s  → %s\n", "", width, "", cli.OneLine(c.Advice))
		}
	}
}

// examine is the whole checkup: what the daemon sees, and what can be seen without it.
func examine(env *environment, s *settings, socket, from string) []api.Check {
	var list []api.Check
	err := inquire(env, socket, func(ctx context.Context, c *api.Client) (err error) {
		list, err = c.Checkup(ctx)
		return err
	})
	if err != nil {
		list = []api.Check{{Name: "daemon", Result: api.Fail, Finding: unanswered(env, socket, err).Sentence, Advice: unansweredAdvice(env, socket, err)}}
		list = append(list, ownCertificate(env, s, socket))
	}
	list = append(list, api.Check{Name: "settings", Result: api.Fine, Finding: fmt.Sprintf("%s; state_dir %s, socket %s", from, s.StateDir, s.socket())})
	if err == nil && s.socket() != socket { // these settings are another member's, or the defaults
		return append(list, api.Check{Name: "files", Result: api.Skipped, Finding: "the settings of the daemon on " + socket + " are not known: name them with --config"})
	}
	list = append(list, modes(s), examineDisk(s.StateDir))
	if err != nil && len(s.CA.Address) > 0 { // it answers each member a few times a minute, and a daemon asks it itself
		list = append(list, examineCA(env, s, api.Warn)) // members go on without it
	}
	return list
}

// unansweredAdvice is the section about what the daemon said last, or what to do about one that has said nothing.
func unansweredAdvice(env *environment, socket string, err error) string {
	var exit *cli.Error
	if errors.As(hintAtLastWord(env, socket, err), &exit) {
		return exit.Hint
	}
	return unansweredHint(socket, err)
}

// settingsOrigin is where settings come from: a file, and the variables that are set instead of its keys.
func settingsOrigin(env *environment, flag string) string {
	file := cmp.Or(flag, env.Getenv(configVariable), defaultConfigFile)
	from := "from " + file
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) { // only the default file may be absent
		from = "defaults, as there is no " + file
	}
	var set []string
	for _, key := range configfile.Keys(&settings{}) {
		if name := variable(key); env.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) > 0 {
		from += "; in the environment: " + strings.Join(set, ", ")
	}
	return from
}

// ownCertificate judges the file where no daemon does. If the daemon of the socket ended because it was revoked or had left, the certificate
// fails.
func ownCertificate(env *environment, s *settings, socket string) api.Check {
	c := api.Check{Name: "certificate", Result: api.Fine}
	id, err := node.LoadIdentity(s.Identity.Certificate, s.Identity.Key, s.Identity.Group)
	if err != nil {
		c.Result, c.Finding, c.Advice = api.Fail, err.Error(), "wander join makes key, certificate and group.crt; name the settings with --config"
		if errors.Is(err, fs.ErrPermission) {
			c.Result, c.Advice = api.Skipped, "run this as the daemon's user"
		}
		return c
	}
	b, schedule := id.Certificate.Body(), enrolment.ScheduleOf(id.Certificate, id.Group)
	c.Finding = fmt.Sprintf("%s of group %s, valid until %s", b.Name, id.Group.Name(), b.NotAfter.UTC().Format(time.RFC3339))
	warning := schedule.Warning(env.Now())
	last, _ := node.ReadLastWord(stateFolder(env, socket))
	switch err := id.Certificate.ValidAt(env.Now()); {
	case last.Gone(id.Certificate.Member()):
		c.Result, c.Finding, c.Advice = api.Fail, fmt.Sprintf("%s: %s", last.Cause, c.Finding), explain.Section(last.Cause)
	case schedule.InGrace(env.Now()):
		c.Result, c.Finding, c.Advice = api.Fail, err.Error()+": "+c.Finding, fmt.Sprintf("wander node or wander cert renew renews it within the grace of %s", duration.Format(schedule.Grace))
	case err != nil:
		c.Result, c.Finding, c.Advice = api.Fail, err.Error()+": "+c.Finding, "compare this machine's clock; have the CA make an invite"
	case warning > enrolment.NoWarning:
		c.Result, c.Advice = api.Warn, "wander cert renew"
	}
	return c
}

// modes judges who may read and change the files.
func modes(s *settings) api.Check {
	c := api.Check{Name: "files", Result: api.Fine, Finding: "the key is the daemon's user's alone, and nobody else may change the others"}
	note := func(r api.Result, path, what, advice string) {
		if c.Result != api.Fail {
			c.Result, c.Finding, c.Advice = r, path+" "+what, advice
		}
	}
	if info, err := os.Stat(s.Identity.Key); err != nil {
		note(api.Fail, s.Identity.Key, "cannot be looked at: "+err.Error(), "wander join makes it; name the settings with --config")
	} else if err := keyfile.CheckMode(info.Mode()); err != nil {
		note(api.Fail, s.Identity.Key, "may be read by others: "+info.Mode().Perm().String(), "chmod 600 "+s.Identity.Key)
	}
	for _, path := range []string{s.Identity.Certificate, s.Identity.Group, filepath.Dir(s.Identity.Key), s.StateDir, filepath.Join(s.StateDir, "journal")} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o022 != 0 {
			note(api.Fail, path, "may be changed by others: "+info.Mode().Perm().String(), "chmod go-w "+path)
		}
	}
	return c
}

const (
	// diskSyncs is how many syncs are measured: enough for a median, and a second on the slowest disk that will do.
	diskSyncs = 10
	// diskBytes is what is written before each: a record of the journal.
	diskBytes = 512
)

// examineDisk measures syncs in a folder, with a file that is removed again.
func examineDisk(dir string) api.Check {
	took, err := measureSyncs(dir)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return api.Check{Name: "disk", Result: api.Fail, Finding: "full: " + err.Error(), Advice: explain.Section(explain.DiskFull)}
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return api.Check{Name: "disk", Result: api.Fail, Finding: err.Error(), Advice: explain.Section(explain.JournalFailed)}
	case err != nil:
		return api.Check{Name: "disk", Result: api.Skipped, Finding: err.Error(), Advice: "run this as the daemon's user"}
	}
	return doctor.Syncs(took)
}

func measureSyncs(dir string) (took []time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	for range diskSyncs {
		begun := time.Now()
		if _, err := file.Write(make([]byte, diskBytes)); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun))
	}
	return took, nil
}

// examineCA asks the authority what is new, as the daemon does, and changes nothing here. unreachable is how bad it is that it does not answer.
func examineCA(env *environment, s *settings, unreachable api.Result) api.Check {
	c := api.Check{Name: "authority"}
	if len(s.CA.Address) == 0 {
		c.Result, c.Finding, c.Advice = api.Skipped, "no address of the CA is set", "set ca.address, for renewals without an operator"
		return c
	}
	id, err := node.LoadIdentity(s.Identity.Certificate, s.Identity.Key, s.Identity.Group)
	if err != nil {
		c.Result, c.Finding, c.Advice = api.Skipped, err.Error(), "run this as the daemon's user"
		return c
	}
	ctx, cancel := context.WithTimeout(context.Background(), daemonPatience)
	defer cancel()
	begun := time.Now()
	client := enrolment.Client{Addresses: s.CA.Address, Group: id.Group, Certificate: id.Certificate, Key: id.Key, Now: env.Now}
	news, err := client.Sync(ctx, enrolment.Mine{})
	took := time.Since(begun)
	where := strings.Join(s.CA.Address, ", ")
	var (
		wrong *enrolment.ClockError
		busy  *enrolment.BusyError
	)
	switch {
	case errors.As(err, &busy):
		c.Result, c.Finding = api.Fine, fmt.Sprintf("%s answers in %v: %v", where, took.Round(time.Millisecond), err)
		return c
	case errors.As(err, &wrong), errors.Is(err, enrolment.ErrExpired), errors.Is(err, enrolment.ErrNotYetValid):
		c.Result, c.Finding, c.Advice = api.Fail, where+": "+err.Error(), "compare this machine's clock with the CA's; else have the CA make an invite"
		return c
	case errors.Is(err, enrolment.ErrRevoked), errors.Is(err, enrolment.ErrLeft), errors.Is(err, enrolment.ErrRefused):
		c.Result, c.Finding, c.Advice = api.Fail, where+": "+err.Error(), "ask whoever runs the CA"
		return c
	case err != nil:
		c.Result, c.Finding, c.Advice = unreachable, where+": "+err.Error(), "see whether wander ca serve runs there, and whether TCP to it passes; members go on without it until they have to renew"
		return c
	}
	config := news.Group.Config()
	c.Result = api.Fine
	c.Finding = fmt.Sprintf("%s answers in %v: configuration %d, issued %s ago", where, took.Round(time.Millisecond), config.Version(),
		duration.Format(duration.About(max(0, env.Now().Sub(config.Settings().Issued)))))
	clock := doctor.Clock("clock", "the CA's", -news.Skew, time.Second+took, true) // its answer has whole seconds
	c.Finding += "; this machine's clock is " + clock.Finding
	if clock.Result != api.Fine {
		c.Result, c.Advice = clock.Result, clock.Advice
	}
	return c
}
