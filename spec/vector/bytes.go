package vector

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxInput bounds one byte string of a vector: above all that the protocol
// permits, so that what is one byte too long can be written, while a file
// cannot ask for memory.
const maxInput = 1 << 20

// shortestRun is from how many equal bytes on a run is written as one: below,
// it would hardly be shorter.
const shortestRun = 32

// Bytes is a byte string. As text it is hexadecimal digits, in which (bb*n)
// stands for n times the byte bb.
type Bytes []byte

// MarshalText writes runs of at least 32 equal bytes as such.
func (b Bytes) MarshalText() ([]byte, error) {
	var out []byte
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		if n >= shortestRun {
			out = fmt.Appendf(out, "(%02x*%d)", b[0], n)
		} else {
			n = 1
			out = hex.AppendEncode(out, b[:n])
		}
		b = b[n:]
	}
	return out, nil
}

// UnmarshalText reads what MarshalText writes. Error: ErrBytes.
func (b *Bytes) UnmarshalText(text []byte) error {
	var out []byte
	for rest := string(text); rest != ""; {
		digits, run, found := strings.Cut(rest, "(")
		raw, err := hex.DecodeString(digits)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBytes, err)
		}
		if out = append(out, raw...); len(out) > maxInput {
			return fmt.Errorf("%w: more than %d bytes", ErrBytes, maxInput)
		}
		if !found {
			break
		}
		run, rest, found = strings.Cut(run, ")")
		value, count, err := parseRun(run)
		if err != nil || !found || count > maxInput-len(out) {
			return fmt.Errorf("%w: (%s: a run is (bb*n), and all is at most %d bytes", ErrBytes, shorten(run), maxInput)
		}
		out = append(out, strings.Repeat(string([]byte{value}), count)...)
	}
	*b = out
	return nil
}

func parseRun(run string) (value byte, count int, err error) {
	digits, times, _ := strings.Cut(run, "*")
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != 1 {
		return 0, 0, ErrBytes
	}
	n, err := strconv.ParseUint(times, 10, 31)
	return raw[0], int(n), err
}

// shorten keeps what an error shows of a file short.
func shorten(s string) string { return s[:min(len(s), 24)] }

// MarshalJSON is MarshalText as a string.
func (b Bytes) MarshalJSON() ([]byte, error) {
	text, err := b.MarshalText()
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}
