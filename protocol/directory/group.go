package directory

import "github.com/wandertoken/wander/protocol/ident"

// Sampled reports whether the directory keeps a sample of the members only.
func (d *Directory) Sampled() bool { return d.sample != nil }

// AttachedTo reports whether the member m only dials out and says that it keeps
// a connection to the member to.
func (d *Directory) AttachedTo(m, to ident.Member) bool { return d.links.attachedTo(m, to) }
