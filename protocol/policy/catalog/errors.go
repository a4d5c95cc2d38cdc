package catalog

import "errors"

// ErrUnknownPolicy is returned for a name that is none of Names. A member with
// an older program meets it when the group configuration names a policy that
// came later.
var ErrUnknownPolicy = errors.New("unknown policy")
