package updates

// Traffic counts what travelled.
type Traffic struct {
	Hops int
	// Tokens and Receipts are the updates beside TRANSFERs and RECEIPTs.
	Tokens, Receipts Load
	// Compared counts comparisons of two directories, Repaired the members that
	// one of the two learned of by them.
	Compared, Repaired int
}

// Since is what travelled after an earlier count.
func (t Traffic) Since(before Traffic) Traffic {
	return Traffic{
		Hops: t.Hops - before.Hops, Tokens: t.Tokens.since(before.Tokens), Receipts: t.Receipts.since(before.Receipts),
		Compared: t.Compared - before.Compared, Repaired: t.Repaired - before.Repaired,
	}
}

// Load is how many updates there were, and their bytes in messages.
type Load struct{ Updates, Bytes int }

// objectHead is what a byte string of 256 bytes and more costs in a message
// beside itself.
const objectHead = 3

// Add counts n updates of so many bytes each.
func (l *Load) Add(n, size int) {
	l.Updates += n
	l.Bytes += n * (objectHead + size)
}

func (l Load) since(before Load) Load {
	return Load{l.Updates - before.Updates, l.Bytes - before.Bytes}
}
