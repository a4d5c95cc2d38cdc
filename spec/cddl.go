package spec

import "embed"

// CDDL holds wire.cddl, journal.cddl and enrolment.cddl.
//
//go:embed *.cddl
var CDDL embed.FS
