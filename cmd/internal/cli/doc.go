// Package cli is what the project's programs have in common: their environment,
// exit codes and errors, and how they take flags and arguments and write output.
//
//	func main() {
//		env := cli.Process()
//		root := &cobra.Command{Use: "wander", Short: "…"}
//		root.AddCommand(commands...)
//		os.Exit(cli.Run(&env, root, os.Args[1:]))
//	}
//
// Its callers are cmd/wander, cmd/wander-lab and cmd/internal/groupfile. Whatever is of one program only is in
// that program.
//
// # The walk of a mistake
//
//	$ wander audti journals
//	error: unknown command "audti" for "wander"
//	hint: did you mean "audit"?
//	$ echo $?
//	64
//
// Run prepares the tree of commands once (prepare): no command prints errors or usage by itself, wrong
// arguments are explained alike everywhere (checkArguments, FlagError), and the help shows switches by their
// names alone. Then it executes one command, and what that returns takes this way:
//
//	error                                    exit code
//	nil                                      ExitOK
//	*Error, wrapped or not                   its Code, with its Hint
//	a missing flag, or what the command-     ExitUsage, with a hint at the help
//	line library finds (isUsage)
//	*configfile.Error                        ExitConfiguration, with its Hint
//	anything else                            ExitFailure
//
// complain prints it: "error: …" and "hint: …", one line each, on Environment.Err. An Error with an empty text
// prints none, as when a child has failed and has said so itself.
//
// # The types
//
//	Environment  streams, variables and the clock; Process is the real one, tests make their own
//	Error        an error with its exit code and a hint; UsageError and ConfigError make the usual ones
//	Exit…        the exit codes, after sysexits.h; README.md lists them
//	Span         a duration as people write it, with its unit: a flag and a value in TOML; PositiveSpan
//	             refuses 0, DurationVar sets a time.Duration
//
// The functions are small, and each is there because two commands need the same:
//
//	output    AddOutputFlag, CheckOutput, WriteJSON, Count, ProgressLine
//	messages  Warn, OneLine, DidYouMean
//	files     LoadGroup, ReadGroup, ReadSmall, ReadLimited
//	signals   Interruptible, Interrupted, InterruptedWriting
//
// # What holds
//
// Text from elsewhere cannot break out of its line or speak to a terminal (OneLine). A file is read up to a
// limit. ProgressLine shows nothing where there is no terminal, so a log has no control characters. No
// template is set for the help: one would link text/template, which keeps every exported method in the binary.
//
// # What it does not do
//
// It knows no command, no setting and no socket, and it starts no process. A new exit code goes into
// errors.go, and into the list in README.md.
//
// Run changes the commands that it is given, so each tree is run once. Everything else is safe for concurrent
// use, as far as the streams are.
package cli
