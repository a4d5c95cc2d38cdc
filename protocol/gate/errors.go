package gate

import "errors"

// Why a gate does not start, or a journal is not one.
var (
	ErrFloor      = errors.New("no floor for the session numbers, or one with no number above it")
	ErrSettings   = errors.New("impossible settings of the gate")
	ErrSlots      = errors.New("impossible number of slots at the gate")
	ErrNoJournal  = errors.New("gate journal without a beginning")
	ErrCheckpoint = errors.New("gate journal whose checkpoint has no end")
	ErrJournal    = errors.New("gate journal that contradicts itself")
	ErrRecord     = errors.New("malformed record of a gate")
	ErrRecordKind = errors.New("record of a gate of a kind that this version does not know")
	ErrInvariant  = errors.New("invariant of the gate does not hold")
)
