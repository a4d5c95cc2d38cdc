package groupfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wandertoken/wander/protocol/policy"
)

// Ratio is a factor as people write it in TOML files: a decimal number such as
// 3 or 2.5. It is read digit by digit, so that nothing is rounded. Which are
// permitted, and that none is negative, is the parameter's to say.
type Ratio struct{ policy.Ratio }

// ratioDecimals is how many decimals a policy.Ratio has.
const ratioDecimals = 3

// UnmarshalText reads a decimal number.
func (r *Ratio) UnmarshalText(text []byte) error {
	digits, negative := strings.CutPrefix(string(text), "-")
	whole, decimals, point := strings.Cut(digits, ".")
	if len(decimals) <= ratioDecimals && point == (decimals != "") {
		decimals += strings.Repeat("0", ratioDecimals-len(decimals))
		if n, err := strconv.ParseUint(whole+decimals, 10, 31); err == nil && whole != "" {
			r.Ratio = policy.Ratio(n)
			if negative {
				r.Ratio = -r.Ratio
			}
			return nil
		}
	}
	return fmt.Errorf("%q: must be a number such as 3 or 2.5, with at most %d decimals", text, ratioDecimals)
}
