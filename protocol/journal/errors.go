package journal

import (
	"errors"
	"fmt"
)

// The two families of what can be wrong with a segment. Every *DamageError is
// ErrDamaged, every *TornError is ErrTorn.
var (
	ErrDamaged = errors.New("journal is damaged")
	ErrTorn    = errors.New("journal ends in the middle of a write")
)

// Why a segment is damaged: the Reason of a DamageError.
var (
	ErrMagic         = errors.New("not a journal segment")
	ErrVersion       = errors.New("journal version is not supported")
	ErrSegmentHeader = errors.New("segment header does not match its checksum")
	ErrFrameHeader   = errors.New("frame header does not match its checksum")
	ErrFrameBody     = errors.New("frame body does not match its checksum")
	ErrFrameType     = errors.New("unknown frame type")
	ErrFrameSize     = errors.New("frame size out of range")
	ErrSequence      = errors.New("sequence number is not the next one")
	ErrCheckpoint    = errors.New("segment does not begin with one whole checkpoint")
	ErrTruncated     = errors.New("segment that has a successor ends in the middle of a frame")
	ErrForeign       = errors.New("segment belongs to another member or another place in the journal")
)

// DamageError reports bytes that no crash leaves behind. What it names is
// never repaired, cut or skipped.
type DamageError struct {
	File   string // as the caller named it
	Offset int64  // of the frame that does not match, in bytes; 0 is the segment header
	Reason error  // wraps one of the sentinels above
}

func (e *DamageError) Error() string {
	if errors.Is(e.Reason, ErrVersion) { // which is refused likewise, and may be whole
		return fmt.Sprintf("%s: %v", e.File, e.Reason)
	}
	return fmt.Sprintf("%v: %s, offset %d: %v", ErrDamaged, e.File, e.Offset, e.Reason)
}

// Unwrap makes errors.Is find ErrDamaged and the Reason.
func (e *DamageError) Unwrap() []error { return []error{ErrDamaged, e.Reason} }

// VersionError is the Reason of a DamageError for a segment of another version, which may
// be whole. It matches ErrVersion.
type VersionError struct {
	Version uint32 // of the segment
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%v: version %d, this program reads version %d", ErrVersion, e.Version, SegmentVersion)
}

func (e *VersionError) Unwrap() error { return ErrVersion }

// TornError reports that a segment ends in a write that a crash cut short. In
// the last segment of a journal the tail was never acknowledged and may be
// cut; in any other it is damage.
type TornError struct {
	File   string // as the caller named it
	Offset int64  // where the whole frames end, in bytes: cut here
	Size   int64  // bytes behind Offset
}

func (e *TornError) Error() string {
	return fmt.Sprintf("%v: %s, offset %d: %d bytes", ErrTorn, e.File, e.Offset, e.Size)
}

// Unwrap makes errors.Is find ErrTorn.
func (e *TornError) Unwrap() error { return ErrTorn }

// Damage is the same finding about a segment that has a successor: it was
// whole when the successor began, so no crash explains what is missing.
func (e *TornError) Damage() *DamageError {
	return &DamageError{File: e.File, Offset: e.Offset, Reason: ErrTruncated}
}
