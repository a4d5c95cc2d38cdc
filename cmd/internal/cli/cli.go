package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Environment is what a command knows of the world outside: tests replace it.
type Environment struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	// Topic is what the help says of a word that is no command; nil: there are no such words.
	Topic func(word string) (text string, known bool)
}

// Process returns the environment of this process.
func Process() Environment {
	return Environment{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now}
}

// Run runs the command line of a program whose commands are below root, and returns
// the exit code.
func Run(env *Environment, root *cobra.Command, args []string) int {
	prepare(env, root)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return ExitOK
	}
	var exit *Error
	if missing := missingFlags(cmd, err); missing != nil {
		err = missing
	} else if !errors.As(err, &exit) && isUsage(err) {
		err = &Error{Code: ExitUsage, Err: err, Hint: fmt.Sprintf("%[1]s help shows the commands; %[1]s COMMAND --help its flags", root.Name())}
	}
	return complain(env.Err, err)
}

func prepare(env *Environment, root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetFlagErrorFunc(FlagError)
	showPlainSwitches(root)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(newHelpCommand(env, root))
	checkArguments(root)
}

// isUsage recognises the mistakes that the command-line library finds.
func isUsage(err error) bool {
	for _, start := range []string{"unknown command", "accepts ", "requires ", "invalid argument"} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}
