package store

import "errors"

// Why a store does not do what it was asked. Damage found in a file is
// reported as *journal.DamageError, which is none of these.
var (
	ErrLocked     = errors.New("journal is in use by another process")
	ErrOptions    = errors.New("journal options out of range")
	ErrBroken     = errors.New("journal is broken: writing to it failed") // final: stop the member
	ErrClosed     = errors.New("journal is closed")
	ErrRecordSize = errors.New("journal record size out of range")
	ErrBacklog    = errors.New("too many journal records wait to be written")
	ErrPrune      = errors.New("old journal segments cannot be removed") // the store goes on
)
