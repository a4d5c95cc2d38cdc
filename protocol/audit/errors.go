package audit

import "errors"

// ErrGone says that a record does not hold what it held when it was audited: the
// journal was changed meanwhile.
var ErrGone = errors.New("journal has changed during the audit")
