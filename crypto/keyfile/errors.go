package keyfile

import "errors"

// Reasons for which text or a file is refused. No error shows key material or
// a passphrase.
var (
	// ErrFormat says that the text is not a sequence of blocks.
	ErrFormat = errors.New("keyfile: malformed block")
	// ErrTooLarge says that the text or one block has too many bytes.
	ErrTooLarge = errors.New("keyfile: too large")
	// ErrTooMany says that there are more blocks than permitted.
	ErrTooMany = errors.New("keyfile: too many blocks")
	// ErrType says that a block has an unknown type, or one that has no place
	// in this file.
	ErrType = errors.New("keyfile: unexpected block type")
	// ErrNoKey says that there is no private key in the text.
	ErrNoKey = errors.New("keyfile: no private key")
	// ErrKey says that a private key block does not hold a private key.
	ErrKey = errors.New("keyfile: malformed private key")
	// ErrPassphraseNeeded says that the key is encrypted and nobody can be
	// asked for the passphrase.
	ErrPassphraseNeeded = errors.New("keyfile: the key is encrypted and no passphrase was given")
	// ErrPassphrase says that the passphrase is wrong, or empty where one is to
	// be set.
	ErrPassphrase = errors.New("keyfile: wrong passphrase")
	// ErrWork says that a work factor is out of range.
	ErrWork = errors.New("keyfile: work factor out of range")
	// ErrMode says that others than its owner have access to a secret file.
	ErrMode = errors.New("keyfile: permissions too open")
)
