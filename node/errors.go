package node

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/node/api"
)

// SettingError says that one setting cannot be used. It matches ErrConfig.
type SettingError struct {
	Key string // as in the settings file: listen.address
	Err error
}

func (e *SettingError) Error() string { return fmt.Sprintf("%v: %s: %v", ErrConfig, e.Key, e.Err) }

// Unwrap makes errors.Is find ErrConfig and the reason.
func (e *SettingError) Unwrap() []error { return []error{ErrConfig, e.Err} }

// Why a resource was not granted, or a grant ended; the same as in package api.
var (
	ErrNotGranted = api.ErrNotGranted
	ErrLost       = api.ErrLost
	ErrIsolated   = api.ErrIsolated
	ErrRevoked    = api.ErrRevoked
)

// Why a node did not start, or ended.
var (
	// ErrConfig says that a setting is missing or wrong; the message says which.
	ErrConfig = errors.New("configuration")
	// ErrIdentity says that key, certificate and group file do not belong
	// together, or that the certificate is not valid now.
	ErrIdentity = errors.New("identity")
	// ErrJournal says that the journal cannot be read or written.
	ErrJournal = errors.New("journal")
	// ErrLink says that the journal's folder, or a file in it, is a symbolic link.
	ErrLink = errors.New("symbolic link in the place of the journal")
	// ErrLeft says that this member has left the group, permanently.
	ErrLeft = errors.New("this member has left the group")
	// ErrClosed says that the node was closed.
	ErrClosed = errors.New("node is closed")
)
