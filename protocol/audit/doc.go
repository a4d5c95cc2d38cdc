// Package audit compares the journals of many members: who had custody of which
// token from when to when, what became of each token, which rules were broken, and for
// how long operations ran at once.
//
//	trust := audit.NewTrust(group, extra) // the group's CA keys
//	for each frame of each journal { trust.Learn(frame.Body) }
//	trust.Settle()
//	books := audit.New(group.ID(), audit.Options{Trust: trust})
//	for each journal {
//		r := books.Journal(member)
//		for each segment { r.Segment(follows); for each frame { r.Frame(frame) } }
//	}
//	report := books.Report()
//
// An Auditor verifies every signature, with keys that it learns from the journals
// themselves as far as the group's CA vouches for them. It believes signed objects; a
// finding that two of them prove has Exhibits (Finding.Proved), and everything else is
// suspicion. Of a complaint it believes only who says so. Journals may be missing, cut or
// copied while they are written: what is not at hand is held against nobody.
//
// Each journal has a clock of its own. Handoffs measure by how much two clocks are
// apart, and between handoffs a part in driftPart is allowed for. Overlap is given by two
// bounds. It is certain while two programs were running for every clock difference
// that the handoffs permit: a program was running from the first to the last time that
// it was seen so (journal.Ended). It is possible while two can have been running for
// some difference: a program can have run from its grant to the record of its end or to
// its deadline, and wherever a token was that no journal at hand covers. Programs under
// one token are taken to follow each other, since its custody is exclusive, unless
// there is a finding about it. The bounds hold if programs are dead at their deadline,
// clocks without a measured difference are within Options.Skew, and members wrote
// down what they did.
//
// Check is for a simulator that has made the journals itself: it verifies nothing,
// takes them for whole and for written by one clock, and measures no overlap.
//
// The package is pure; reading files is the caller's business.
package audit
