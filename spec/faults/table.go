package main

// fault is one deliberate mistake: in one file, a text that occurs there exactly
// once becomes another.
type fault struct {
	name, file, old, new string
	fuzz                 string   // the target to run for a while, beside the corpora
	models               []string // switches of spec/model that are the same mistake
}

// faults are the ten of docs/faults.md, in its order.
var faults = []fault{
	{
		name: "fsync after send", file: "protocol/handoff/sender.go",
		old:    "\ts.persist(&journal.Sent{Transfer: transfer.Raw()}, true)\n\ts.transmit(rec, carry)\n",
		new:    "\ts.transmit(rec, carry)\n\ts.persist(&journal.Sent{Transfer: transfer.Raw()}, true)\n",
		models: []string{"BUG_SEND"}, fuzz: "FuzzHandoff",
	},
	{
		name: "reuse of an incarnation", file: "protocol/member/memory.go",
		old:    "\tm.incarnation = m.newIncarnation()\n",
		new:    "\tif !replaced {\n\t\tm.incarnation = m.newIncarnation()\n\t}\n",
		models: []string{"TRAP_4"}, fuzz: "FuzzMember",
	},
	{
		name: "hop reuse after VOID", file: "protocol/handoff/sender.go",
		old: "\ts.persist(&journal.Reclaimed{Token: k.token, Hop: k.hop, Void: void.Raw()}, true)\n" +
			"\tbefore := rec.title\n\ts.book.retire(rec)\n\ts.book.hold(k, title, before)\n",
		new:    "\trec.state, rec.sent, title, k = Hold, token.Transfer{}, rec.title, rec.key\n\ts.book.held++\n",
		models: []string{"TRAP_5"}, fuzz: "FuzzHandoff",
	},
	{
		name: "expiry that refuses", file: "protocol/handoff/receiver.go",
		old:    "\tmac := r.macs.of(b.From, k, b.Accept)\n",
		new:    "\tif rec := o.records[b.Accept]; rec == nil || rec.state == Lapsed {\n\t\treturn true\n\t}\n\tmac := r.macs.of(b.From, k, b.Accept)\n",
		models: []string{"TRAP_1", "TRAP_8"}, fuzz: "FuzzHandoff",
	},
	{
		name: "receipt forgotten without floor", file: "protocol/handoff/book.go",
		old:    "\tif rec.accept < b.offerers[rec.from].floor {\n",
		new:    "\tif b.offerers[rec.from] != nil {\n",
		models: []string{"BUG_NO_FLOOR", "BUG_DELETE_FIRST"}, fuzz: "FuzzHandoff",
	},
	{
		name: "batch verification without random coefficients", file: "crypto/signature/batch.go",
		old: "\tz := b.coefficients(random)\n",
		new: "\tz := b.coefficients(random)\n\tfor i := range z {\n" +
			"\t\t_, _ = z[i].SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))\n\t}\n",
		fuzz: "FuzzSignature",
	},
	{
		name: "non-canonical accepted", file: "crypto/canonical/check.go",
		old:  "\tif v < least {\n",
		new:  "\tif v < least && false {\n",
		fuzz: "FuzzMessage",
	},
	{
		name: "tombstone dropped early", file: "protocol/handoff/receiver.go",
		old:    "\tr.send(rec.from, &wire.Void{Void: void.Raw()})\n",
		new:    "\tr.send(rec.from, &wire.Void{Void: void.Raw()})\n\tr.book.forget(rec)\n",
		models: []string{"BUG_NO_FLOOR", "BUG_DELETE_FIRST"}, fuzz: "FuzzHandoff",
	},
	{
		name: "deadline ignored", file: "protocol/member/grants.go",
		old:  "Deadline: killed, Length: length,\n",
		new:  "Deadline: killed.Add(24 * time.Hour), Length: length + 24*time.Hour,\n",
		fuzz: "FuzzMember",
	},
	{
		name: "skew unbounded", file: "protocol/member/admission.go",
		old:  "\t\treturn a.now.Wall.Sub(clock.FromMillis(g.Time)).Abs() <= allowed\n",
		new:  "\t\treturn a.now.Wall.Sub(clock.FromMillis(g.Time)).Abs() >= 0\n",
		fuzz: "FuzzMember",
	},
}
