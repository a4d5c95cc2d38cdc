package audit_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/window"
)

// forged is a signed object whose signature, its last bytes, does not hold.
func forged(raw []byte) []byte {
	raw = bytes.Clone(raw)
	raw[len(raw)-1] ^= 1
	return raw
}

// windows has a resource open from the beginning for a while, or for a minute a day before, and returns when it closes.
func windows(w *audittest.World, a *audittest.Author, length time.Duration) time.Time {
	from := audittest.Start.UTC().Truncate(time.Minute)
	if length == 0 {
		from, length = from.AddDate(0, 0, -1), time.Minute
	}
	end := from.Add(length)
	s := w.Group.Config().Settings()
	s.Resources[0].OperationTime = time.Second
	s.Resources[0].Windows = window.Windows{{
		Days: 1 << ((int(from.Weekday()) + 6) % 7), Begin: 60*from.Hour() + from.Minute(), End: 60*end.Hour() + end.Minute(), Name: "UTC",
	}}
	c, err := s.Sign(w.Group.ID(), w.CA)
	if err != nil {
		panic(err)
	}
	w.Group, err = group.New(w.Group.Authorities(), c)
	if err != nil {
		panic(err)
	}
	return end
}

// Each broken rule, and no other, is found; what convicts is proof, and makes
// evidence against the guilty one.
func TestBrokenRules(t *testing.T) {
	for name, c := range map[string]struct {
		tell   func(w *audittest.World, a, b, c *audittest.Author)
		proofs []audit.Kind // against ann
		others []audit.Kind
	}{
		"two transfers of one hop, one taken": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			a.Hand(title, b)
			c.Decline(a.Sign(title, c))
		}, []audit.Kind{audit.Fork}, nil},
		"two transfers of one hop, both taken": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			second := a.Sign(title, c)
			a.Hand(title, b)
			c.Take(title, second)
			b.Write(&journal.Counters{})
		}, []audit.Kind{audit.Fork}, []audit.Kind{audit.Unsent, audit.Overlap}},
		"void and receipt": {func(w *audittest.World, a, b, c *audittest.Author) {
			tr := b.Send(b.Generate(), a)
			b.Close(tr, a.Answer(token.Receipt, tr))
			a.Write(&journal.Voided{Transfer: tr.Raw(), Void: a.Answer(token.Void, tr).Raw()})
		}, []audit.Kind{audit.Contradiction}, []audit.Kind{audit.Unheld, audit.Vanished}},
		"declined and given on": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Generate()
			tr := b.Send(title, a)
			b.Reclaim(title, tr, a.Decline(tr))
			next := token.Title{Genesis: title.Genesis, Transfer: tr}
			c.Decline(a.Sign(next, c))
		}, []audit.Kind{audit.Disowned}, nil},
		"a transfer that skips a hop": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Hand(b.Generate(), a)
			c.Decline(a.Sign(title, c, func(b *token.TransferBody) { b.Hop++ }))
		}, []audit.Kind{audit.Broken}, nil},
		"a transfer of what was given to another": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Hand(b.Generate(), c)
			b.Decline(a.Sign(title, b))
		}, []audit.Kind{audit.Broken}, nil},
		"a first transfer by another than the generator": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Generate()
			c.Decline(a.Sign(title, c))
		}, []audit.Kind{audit.Broken}, nil},
		"a void of another transfer": {func(w *audittest.World, a, b, c *audittest.Author) {
			one, other := a.Generate(), a.Generate()
			first, second := a.Send(one, b), a.Send(other, b)
			v := b.Decline(first)
			a.Reclaim(one, first, v)
			a.Reclaim(other, second, b.Decline(second))
			h := v.Hash()
			c.Decline(a.Sign(token.Title{Genesis: other.Genesis, Transfer: second, Void: v}, c, func(b *token.TransferBody) {
				b.Void = &h
			}))
		}, []audit.Kind{audit.Broken}, nil},
		"a number for two tokens": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Write(&journal.Generated{Genesis: a.Genesis(9, 1, "tape").Raw()})
			a.Write(&journal.Generated{Genesis: a.Genesis(9, 2, "tape").Raw()})
		}, []audit.Kind{audit.Minted}, nil},
		"found at run time by another": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			b.Write(&journal.Evidence{What: "x", Accused: a.ID, Objects: [][]byte{a.Sign(title, b).Raw(), a.Sign(title, c).Raw()}})
		}, []audit.Kind{audit.Fork}, nil},
		"void and receipt found at run time": {func(w *audittest.World, a, b, c *audittest.Author) {
			tr := b.Send(b.Generate(), a)
			b.Write(&journal.Evidence{Objects: [][]byte{a.Answer(token.Void, tr).Raw(), a.Answer(token.Receipt, tr).Raw()}})
		}, []audit.Kind{audit.Contradiction}, nil},

		"a signature does not hold": {func(w *audittest.World, a, b, c *audittest.Author) { a.Forge() }, nil, []audit.Kind{audit.Forged}},
		"a certificate was changed": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Know(journal.KnownCertificate, forged(w.Certify(b, audittest.Start.AddDate(0, 0, 80)).Raw()))
		}, nil, []audit.Kind{audit.Forged}},
		"a fork with one forged transfer": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			a.Hand(title, b)
			c.Write(&journal.Voided{Transfer: forged(a.Sign(title, c).Raw())})
		}, nil, []audit.Kind{audit.Forged, audit.Fork}},
		"two transfers of one hop after different ones": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Generate()
			for accept := range uint64(2) { // somebody before has forked the token, which proves nothing against ann
				came := b.Sign(title, a, func(b *token.TransferBody) { b.Accept = accept + 1 })
				c.Decline(a.Sign(token.Title{Genesis: title.Genesis, Transfer: came}, c))
			}
		}, nil, []audit.Kind{audit.Fork}},
		"a forged transfer that does not follow": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := b.Hand(b.Generate(), a)
			c.Write(&journal.Voided{Transfer: forged(a.Sign(title, c, func(b *token.TransferBody) { b.Hop++ }).Raw())})
		}, nil, []audit.Kind{audit.Forged}},
		"a forged token of a number that was used": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Write(&journal.Generated{Genesis: a.Genesis(9, 1, "tape").Raw()})
			c.Write(&journal.Generated{Genesis: forged(a.Genesis(9, 2, "tape").Raw())})
		}, nil, []audit.Kind{audit.Forged, audit.Misfit, audit.Minted}},
		"a token that is earlier than one before": {func(w *audittest.World, a, b, c *audittest.Author) {
			c.Hand(c.Generate(), a)
			a.Ahead = -time.Minute
			a.Generate()
		}, nil, []audit.Kind{audit.Backdated}},
		"a record of giving away is missing": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			tr := a.Send(title, b)
			a.Erase()
			b.Take(title, tr)
			a.Write(&journal.Counters{})
			b.Write(&journal.Counters{})
		}, nil, []audit.Kind{audit.Unsent, audit.Overlap}},
		"a record of taking is missing": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			tr := a.Send(title, b)
			b.Take(title, tr)
			b.Erase()
			a.Close(tr, b.Answer(token.Receipt, tr))
			b.Write(&journal.Counters{})
		}, nil, []audit.Kind{audit.Unheld, audit.Vanished}},
		"one transfer taken twice": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			tr := a.Send(title, b)
			b.Hand(b.Take(title, tr), c)
			b.Take(title, tr)
			c.Write(&journal.Counters{})
			c.Write(&journal.Counters{})
		}, nil, []audit.Kind{audit.Twice, audit.Overlap}},
		"an incarnation begins twice": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Write(&journal.Incarnation{Incarnation: a.Incarnation, Member: a.ID, Durable: true})
		}, nil, []audit.Kind{audit.Revived}},
		"given away while a program ran": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			a.Write(&journal.Started{Grant: ident.Grant{1}, Token: title.Token(), Resource: "tape"})
			a.Hand(title, b)
		}, nil, []audit.Kind{audit.Busy}},
		"a receipt by a stranger": {func(w *audittest.World, a, b, c *audittest.Author) {
			tr := a.Send(a.Generate(), b)
			a.Close(tr, c.Answer(token.Receipt, tr))
			b.Write(&journal.Counters{})
		}, nil, []audit.Kind{audit.Misfit, audit.Unheld, audit.Vanished}},
		"a program that ran on": {func(w *audittest.World, a, b, c *audittest.Author) {
			title := a.Generate()
			a.Write(&journal.Started{Grant: ident.Grant{1}, Token: title.Token(), Resource: "tape"})
			a.Wait(4) // it is there behind the deadline, and goes on
			a.Write(&journal.Ended{Grant: ident.Grant{1}, Operated: true})
		}, nil, []audit.Kind{audit.Outlived}},
		"a program outside the windows": {func(w *audittest.World, a, b, c *audittest.Author) {
			windows(w, a, 0)
			a.Operate(a.Generate(), 1, 1)
		}, nil, []audit.Kind{audit.Closed}},
		"a program beyond the end of a window": {func(w *audittest.World, a, b, c *audittest.Author) {
			end := windows(w, a, time.Hour)
			title := a.Generate()
			a.Write(&journal.Started{
				Grant: ident.Grant{1}, Token: title.Token(), Resource: "tape", Length: uint64(end.Sub(w.Now) + 2*time.Minute),
			})
			a.Write(&journal.Ended{Grant: ident.Grant{1}, Operated: true})
		}, nil, []audit.Kind{audit.Closed}},
		"too many tokens": {func(w *audittest.World, a, b, c *audittest.Author) {
			for range 9 {
				title := a.Generate()
				a.Write(&journal.Dropped{Token: title.Token()})
			}
		}, nil, []audit.Kind{audit.Excess}},
		"a token of another resource": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Write(&journal.Generated{Genesis: a.Genesis(9, 1, "disk").Raw()})
		}, nil, []audit.Kind{audit.Foreign}},
		"founded twice": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Write(&journal.Generated{Genesis: a.Genesis(9, 1, "tape").Raw(), Founding: true})
			b.Write(&journal.Generated{Genesis: b.Genesis(9, 1, "tape").Raw(), Founding: true})
		}, nil, []audit.Kind{audit.Refounded}},
		"signed with a certificate that has run out": {func(w *audittest.World, a, b, c *audittest.Author) {
			w.Now = audittest.Start.AddDate(0, 0, 91)
			a.Generate()
		}, nil, []audit.Kind{audit.Invalid}},
		"signed after being revoked": {func(w *audittest.World, a, b, c *audittest.Author) {
			r, err := certificate.Revocation{Version: 1, Member: a.ID, Time: w.Millis()}.Sign(w.Group.ID(), w.CA)
			panicIf(err)
			b.Know(journal.KnownRevocation, r.Raw())
			a.Generate()
		}, nil, []audit.Kind{audit.Revoked}},
		"signed after leaving": {func(w *audittest.World, a, b, c *audittest.Author) {
			l, err := certificate.Leave{Member: a.ID, Time: w.Millis()}.Sign(w.Group.ID(), a.Key)
			panicIf(err)
			b.Know(journal.KnownLeave, l.Raw())
			a.Generate()
		}, nil, []audit.Kind{audit.Departed}},
		"rubbish": {func(w *audittest.World, a, b, c *audittest.Author) {
			a.Frames = append(a.Frames, journal.Frame{Type: journal.FrameRecord, Seq: 99, Body: []byte{1}})
		}, nil, []audit.Kind{audit.Misfit}},
	} {
		t.Run(name, func(t *testing.T) {
			w := audittest.New("ann", "ben", "cleo")
			ann := w.List[0]
			c.tell(w, ann, w.List[1], w.List[2])
			r := w.Report(audit.Options{})
			var proofs, others []audit.Kind
			for _, f := range r.Findings {
				if !f.Proved() {
					others = append(others, f.Kind)
					assert.Zero(t, f.Accused)
					continue
				}
				proofs = append(proofs, f.Kind)
				assert.Equal(t, ann.ID, f.Accused)
				e, err := w.Convict(f)
				require.NoError(t, err, "%v", f)
				assert.Equal(t, ann.ID, e.Accused)
			}
			assert.ElementsMatch(t, c.proofs, proofs, "%v", r.Findings)
			assert.ElementsMatch(t, c.others, others, "%v", r.Findings)
			for _, f := range r.Findings {
				assert.NotEmpty(t, f.Records, "%v", f)
			}
		})
	}
}

// Whoever adds a forged object, which any journal can hold, does not hide behind
// it what two others prove, wherever it comes among them by its hash.
func TestExhibits_ForgedBeside_ProofFound(t *testing.T) {
	for forgedOne := range 3 {
		w := audittest.New("ann", "ben", "cleo")
		a, b, c := w.List[0], w.List[1], w.List[2]
		var transfers []token.Transfer
		var geneses []token.Genesis
		title := a.Generate()
		for n := range uint64(3) {
			transfers = append(transfers, a.Sign(title, b, func(b *token.TransferBody) { b.Accept = n + 1 }))
			geneses = append(geneses, a.Genesis(9, byte(n), audittest.Resource))
		}
		slices.SortFunc(transfers, func(x, y token.Transfer) int { return x.Hash().Compare(y.Hash()) })
		slices.SortFunc(geneses, func(x, y token.Genesis) int { return x.Hash().Compare(y.Hash()) })
		for i := range 3 {
			transfer, genesis := transfers[i].Raw(), geneses[i].Raw()
			if i == forgedOne {
				transfer, genesis = forged(transfer), forged(genesis)
			}
			c.Write(&journal.Voided{Transfer: transfer})
			a.Write(&journal.Generated{Genesis: genesis})
		}
		proofs := make(map[audit.Kind]int)
		for _, f := range w.Report(audit.Options{}).Findings {
			if f.Proved() {
				proofs[f.Kind]++
				_, err := w.Convict(f)
				require.NoError(t, err)
			}
		}
		assert.Equal(t, map[audit.Kind]int{audit.Fork: 1, audit.Minted: 1}, proofs, "forged is number %d", forgedOne)
	}
}

func panicIf(err error) {
	if err != nil {
		panic(err)
	}
}
