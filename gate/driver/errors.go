package driver

import "errors"

// Why a gate does not start, or has ended.
var (
	ErrConfig   = errors.New("configuration of the gate")
	ErrResource = errors.New("group has no gate for this resource")
	ErrOther    = errors.New("group names another gate for this resource")
	ErrJournal  = errors.New("journal of the gate")
	ErrClosed   = errors.New("gate closed")
	ErrSlot     = errors.New("gate has no such slot")
	ErrNotStuck = errors.New("slot is not stuck")
)
