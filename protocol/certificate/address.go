package certificate

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// MaxAddress bounds an address, in bytes: the longest host name of the DNS
	// with its dots, a colon and a port.
	MaxAddress = maxHost + 1 + 5
	maxHost    = 255
)

// CheckAddress returns ErrAddress unless a is host:port with a port of 1 to
// 65535 in plain decimal, and the host a name, an IPv4 address, or an IPv6
// address in brackets without a zone. Whether the name exists, or the address
// is in reach, shows when somebody dials it.
func CheckAddress(a string) error {
	host, port, ok := cutLast(a, ":")
	if !ok || len(a) > MaxAddress || !isPort(port) || !isHost(host) {
		return fmt.Errorf("%w: %q, want host:port", ErrAddress, a[:min(len(a), MaxAddress)])
	}
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s == strconv.FormatUint(n, 10)
}

func isHost(s string) bool {
	if len(s) == 0 || len(s) > maxHost {
		return false
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		v6, closed := strings.CutSuffix(inner, "]")
		return closed && strings.Contains(v6, ":") && strings.Trim(v6, "0123456789abcdefABCDEF:.") == ""
	}
	for i := range len(s) {
		b := s[i]
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '.' && b != '-' && b != '_' {
			return false
		}
	}
	return true
}
