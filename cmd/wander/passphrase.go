package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/term"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/credential"
)

// maxPassphrase bounds a passphrase, in bytes: far above what anybody types.
const maxPassphrase = 1024

const passphraseHint = "give the passphrase with --passphrase-file or WANDER_CA_PASSPHRASE, or run this on a terminal"

// passphraseSource is where the passphrase of a key comes from: a file, the
// environment, or somebody at a terminal, in this order.
type passphraseSource struct {
	env  *environment
	file string
	what string // the key, for the prompt
}

// ask returns the passphrase of an existing key.
func (p passphraseSource) ask() ([]byte, error) {
	if secret, err := p.given(); secret != nil || err != nil {
		return secret, err
	}
	return p.prompt("Passphrase of " + p.what + ": ")
}

// choose returns the passphrase for a new key: at a terminal it is asked for
// twice.
func (p passphraseSource) choose() ([]byte, error) {
	if secret, err := p.given(); secret != nil || err != nil {
		return secret, err
	}
	first, err := p.prompt("New passphrase for " + p.what + ": ")
	if err != nil {
		return nil, err
	}
	second, err := p.prompt("The same once more: ")
	if err != nil {
		return nil, err
	}
	switch {
	case len(first) == 0:
		return nil, &cli.Error{Code: cli.ExitUsage, Err: errors.New("the passphrase is empty"), Hint: "enter a passphrase, or give --no-passphrase to leave the key unencrypted"}
	case !bytes.Equal(first, second):
		return nil, cli.UsageError("the passphrases differ")
	}
	return first, nil
}

// passphraseError says what to do about a passphrase file that cannot be used.
func passphraseError(file string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, keyfile.ErrMode):
		hint = "remove the permissions of other users: chmod 600 " + file
	case errors.Is(err, fs.ErrPermission):
		hint = "have the shell of a user who may read the file open it: --passphrase-file - < " + file
	}
	return cli.ConfigError(fmt.Errorf("passphrase file: %w", err), hint)
}

// given returns what file or environment say, and nil if they do not.
func (p passphraseSource) given() ([]byte, error) {
	if p.file == "" {
		if secret := p.env.Getenv("WANDER_CA_PASSPHRASE"); secret != "" {
			return []byte(secret), nil
		}
		return nil, nil
	}
	text, err := p.read()
	if err != nil {
		return nil, passphraseError(p.file, err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 || len(line) > maxPassphrase {
		return nil, cli.ConfigError(fmt.Errorf("passphrase file %s: the first line must have 1 to %d bytes", p.file, maxPassphrase), "")
	}
	return line, nil
}

func (p passphraseSource) read() ([]byte, error) {
	in := p.env.In
	if p.file != "-" {
		f, err := os.Open(p.file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if err := credential.CheckMode(p.file, info.Mode()); err != nil && runtime.GOOS != "windows" {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
		in = f
	}
	return io.ReadAll(io.LimitReader(in, maxPassphrase+3)) // and a line end
}

// prompt asks at the terminal, without showing what is typed.
func (p passphraseSource) prompt(text string) ([]byte, error) {
	in, ok := p.env.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("%s: no terminal to read the passphrase from", p.what), Hint: passphraseHint}
	}
	fmt.Fprint(p.env.Err, text)
	secret, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(p.env.Err)
	return secret, err
}
