package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkArguments makes mistakes in arguments the same everywhere: a group of
// commands refuses what is none of them, and shows its help without any, unless
// it is a command itself that takes arguments; the others name the help that
// says what they take.
func checkArguments(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
	if cmd.HasSubCommands() && !takesArguments(cmd) {
		cmd.Args = knownCommand
		if !cmd.Runnable() {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		return
	}
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		err := check(cmd, args)
		var exit *Error
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return wrongArguments(cmd, args)
	}
}

// wrongArguments says what is wrong with arguments that a command does not take.
func wrongArguments(cmd *cobra.Command, args []string) error {
	e := &Error{Code: ExitUsage, Err: errors.New("an argument is missing"), Hint: "write it as: " + cmd.UseLine()}
	if len(args) > 0 {
		e.Err = fmt.Errorf("unexpected argument %q", args[len(args)-1])
	}
	return e
}

// requiredFlags matches what the command-line library says of flags that are
// missing.
var requiredFlags = regexp.MustCompile(`^required flag\(s\) (".*") not set$`)

// missingFlags names the flags that a command cannot do without, nil if that is not
// what is wrong.
func missingFlags(cmd *cobra.Command, err error) error {
	found := requiredFlags.FindStringSubmatch(err.Error())
	if found == nil {
		return nil
	}
	names := "--" + strings.ReplaceAll(strings.ReplaceAll(found[1], `", "`, ", --"), `"`, "")
	return &Error{Code: ExitUsage, Err: errors.New("required flags missing: " + names), Hint: cmd.CommandPath() + " --help shows the flags"}
}

func takesArguments(cmd *cobra.Command) bool {
	return cmd.Runnable() && cmd.Args != nil && cmd.Args(cmd, []string{"x"}) == nil
}

// knownCommand refuses arguments that are no command of a group.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	hint := DidYouMean(args[0], names)
	if hint == "" {
		hint = cmd.CommandPath() + " --help shows the commands"
	}
	return &Error{Code: ExitUsage, Err: fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()), Hint: hint}
}

// newHelpCommand is help for a command or a topic, which must exist.
func newHelpCommand(env *Environment, root *cobra.Command) *cobra.Command {
	use, short := "help [COMMAND]", "Show the help of a command"
	if env.Topic != nil {
		use, short = "help [COMMAND|WORD]", "Show the help of a command, or what a word in brackets means, as [isolated]"
	}
	return &cobra.Command{
		Use:   use,
		Short: short,
		RunE: func(_ *cobra.Command, args []string) error {
			if env.Topic != nil && len(args) == 1 {
				if text, known := env.Topic(strings.Trim(args[0], "[]")); known {
					_, err := io.WriteString(env.Out, text)
					return err
				}
			}
			cmd, rest, err := root.Find(args)
			if err == nil && !takesArguments(cmd) {
				err = knownCommand(cmd, rest)
			}
			if err != nil {
				return err
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

// FlagError explains a mistake in the flags of a command.
func FlagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help shows the flags"
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		err = fmt.Errorf("--%s %s: %s", value.GetFlag().Name, value.GetValue(), wanted(value.GetFlag().Value.Type(), value.Unwrap()))
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		word := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -wait is a row of short flags
		if near := DidYouMean(word, names); near != "" && len(word) > 1 {
			hint = strings.Replace(near, `"`, `"--`, 1)
		}
	}
	return &Error{Code: ExitUsage, Err: err, Hint: hint}
}

// wanted is what a flag of this type takes. Types of our own say it themselves.
func wanted(kind string, cause error) string {
	switch {
	case slices.Contains([]string{"int", "int64", "uint", "uint16", "uint32", "uint64", "float64"}, kind):
		return "must be a number"
	case kind == "bool":
		return "must be true or false"
	}
	return cause.Error()
}

// switchValues is what the command-line library writes behind the name of a flag
// that is on when it is given.
const switchValues = "[=true|false]"

// showPlainSwitches has the help of all commands show such flags by their names
// alone. The columns stay as they are. It replaces text in the library's own help, and sets no
// template: one would link text/template, which keeps every exported method of every type in
// the binary.
func showPlainSwitches(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		var text strings.Builder
		out := cmd.OutOrStderr()
		cmd.SetOut(&text)
		err := usage(cmd)
		cmd.SetOut(out)
		if err == nil {
			_, err = io.WriteString(out, strings.ReplaceAll(text.String(), switchValues, strings.Repeat(" ", len(switchValues))))
		}
		return err
	})
}
