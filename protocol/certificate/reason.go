package certificate

import (
	"fmt"
	"unicode/utf8"
)

// MaxReason bounds the reason of a revocation, in bytes: one line for people.
const MaxReason = 128

// unprintable are the characters, from and to, that a text for people must not
// have: they would speak to the terminal that shows it, begin another line, turn
// the order of what is read, or not be seen at all. A fixed list, so that members
// built with different versions of Unicode never disagree about a revocation.
var unprintable = [][2]rune{
	{0x0000, 0x001F},   // control characters, line ends among them
	{0x007F, 0x009F},   // delete, and the control characters of 8 bits
	{0x061C, 0x061C},   // direction of Arabic letters
	{0x200B, 0x200F},   // of no width; direction
	{0x2028, 0x202E},   // ends of lines and paragraphs; direction
	{0x2060, 0x206F},   // of no width; direction
	{0xFEFF, 0xFEFF},   // byte order mark
	{0xFFF0, 0xFFFF},   // replacement for what was no character; annotations
	{0xE0000, 0xE0FFF}, // tags, which nobody sees
}

// CheckReason returns ErrReason unless reason is at most MaxReason bytes of
// printable text: it is shown on terminals and in logs.
func CheckReason(reason string) error {
	if len(reason) > MaxReason {
		return fmt.Errorf("%w: %d bytes, permitted are %d", ErrReason, len(reason), MaxReason)
	}
	if !utf8.ValidString(reason) {
		return fmt.Errorf("%w: %q is not UTF-8", ErrReason, reason)
	}
	for _, r := range reason {
		for _, bounds := range unprintable {
			if bounds[0] <= r && r <= bounds[1] {
				return fmt.Errorf("%w: %q contains %U, which is not printable", ErrReason, reason, r)
			}
		}
	}
	return nil
}
