package audit

import (
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	// queueLength is how many frames are worked on together: enough to keep some
	// processors busy with whole batches, in about 10 MB.
	queueLength = 4096
	// readPart is how many frames are decoded by one call of a Runner's task.
	readPart = 256
	// batchSize is how many signatures are verified together. With the few keys
	// of a group the cost of each is lowest from about here on, and grows with
	// batches that no longer fit a processor's cache.
	batchSize = 256
)

// Runner calls do(0) to do(n-1), in any order and possibly at once, and returns
// when all have returned.
type Runner func(n int, do func(i int))

// inTurn is the Runner for who has one processor.
func inTurn(n int, do func(i int)) {
	for i := range n {
		do(i)
	}
}

// item is a frame, or something else about a journal, in the order in which it
// stands there.
type item struct {
	to      *Reader
	frame   journal.Frame
	event   func(*Reader) // instead of a frame
	at      uint64
	record  journal.Record
	gate    gate.Record // of a gate's journal
	err     error
	objects []object
}

// intake takes frames in: it reads many of them at once, verifies what is signed, and
// hands the records to their Readers in order.
type intake struct {
	*findings
	parallel Runner
	random   io.Reader
	queue    []item
	fresh    map[print]*object // that the queue holds for the first time
}

func newIntake(b *books) *intake {
	in := &intake{findings: newFindings(b), parallel: b.Parallel, random: b.Random}
	if in.parallel == nil {
		in.parallel = inTurn
	}
	if in.random == nil {
		in.random = nothing{}
	}
	return in
}

// nothing is a source without random bytes.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// journal begins the journal of a member.
func (in *intake) journal(m ident.Member) *Reader {
	r := in.reader(m)
	in.journals[m] = append(in.journals[m], r)
	return r
}

// reader is one for a journal, of a member or of a gate.
func (in *intake) reader(m ident.Member) *Reader {
	r := &Reader{cursor: cursor{findings: in.findings, member: m, Index: len(in.readers)}, intake: in}
	in.readers = append(in.readers, r)
	return r
}

// enqueue puts an item behind the others, and works on all when they are many.
func (in *intake) enqueue(it item) {
	in.queue = append(in.queue, it)
	if len(in.queue) >= queueLength {
		in.flush()
	}
}

// flush works on what waits: reads it, verifies all signatures that have not
// been seen, and takes it in, in order.
func (in *intake) flush() {
	parts := (len(in.queue) + readPart - 1) / readPart
	in.parallel(parts, func(n int) {
		for i := n * readPart; i < min((n+1)*readPart, len(in.queue)); i++ {
			in.decode(&in.queue[i])
		}
	})
	in.verify(in.unverified())
	for i := range in.queue {
		in.take(&in.queue[i])
	}
	clear(in.queue)
	in.queue = in.queue[:0]
}

// decode reads a frame's record and the objects in it.
func (in *intake) decode(it *item) {
	if it.event != nil || len(it.frame.Body) == 0 {
		return
	}
	if it.to.gate != nil {
		it.at, it.gate, it.err = gate.Decode(it.frame.Body)
		return
	}
	if it.at, it.record, it.err = journal.Decode(it.frame.Body); it.err != nil {
		return
	}
	it.objects = signed(it.record)
	for i := range it.objects {
		in.readObject(&it.objects[i])
	}
}

// unverified collects the objects whose signature is to be checked, each once.
// Those whose signer is not known are told apart.
func (in *intake) unverified() (list []*object) {
	fresh := make(map[print]*object)
	for i := range in.queue {
		for j := range in.queue[i].objects {
			o := &in.queue[i].objects[j]
			if o.known != nil || o.verdict != unchecked || o.err != nil {
				continue
			}
			if in.signer(o) == nil {
				o.verdict = strange
				continue
			}
			if fresh[o.print] == nil {
				fresh[o.print] = o
				list = append(list, o)
			}
		}
	}
	in.fresh = fresh
	return list
}

// verify checks signatures, in batches or one by one. A batch that fails is
// gone through one by one by package signature, so the guilty one is found.
func (in *intake) verify(list []*object) {
	in.report.Signatures += len(list)
	parts := (len(list) + batchSize - 1) / batchSize
	seeds := make([][32]byte, parts)
	for i := range seeds {
		io.ReadFull(in.random, seeds[i][:]) // what is missing stays zero, see signature.Batch
	}
	in.parallel(parts, func(n int) {
		part := list[n*batchSize : min((n+1)*batchSize, len(list))]
		if in.OneByOne {
			in.verifyEach(part)
		} else {
			in.verifyTogether(part, seeds[n])
		}
	})
}

func (in *intake) verifyEach(part []*object) {
	for _, o := range part {
		_, err := o.form.Verify(in.signer(o))
		o.judge(err)
	}
}

func (in *intake) verifyTogether(part []*object, seed [32]byte) {
	var batch envelope.Batch
	for _, o := range part {
		batch.Add(o.form, in.signer(o))
	}
	for i, r := range batch.Verify(&fixed{seed[:]}) {
		part[i].judge(r.Err)
	}
}

func (o *object) judge(err error) {
	o.verdict = genuine
	if err != nil {
		o.verdict = forged
	}
}

// fixed reads what was drawn before, so that tasks at once do not share a
// source.
type fixed struct{ rest []byte }

func (f *fixed) Read(p []byte) (int, error) {
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// take hands one item over to the books.
func (in *intake) take(it *item) {
	r := it.to
	if it.event != nil {
		it.event(r)
		return
	}
	r.seq = it.frame.Seq
	switch {
	case it.frame.Type == journal.FrameCheckpointEnd:
		r.resumed()
		return
	case len(it.frame.Body) == 0:
		return
	case it.err != nil:
		r.find(Misfit, ident.Token{}, 0, it.err.Error(), r.member)
		return
	}
	in.report.Records++
	if r.gate != nil {
		r.gate.record(it.at, it.gate, it.frame.FromCheckpoint)
		return
	}
	for i := range it.objects {
		in.judged(r, &it.objects[i])
	}
	r.record(Entry{At: it.at, Seq: it.frame.Seq, Record: it.record}, it.frame.FromCheckpoint, it.objects)
}

// judged copies the verdict on an object that was in the queue twice, and
// tells of a bad one.
func (in *intake) judged(r *Reader, o *object) {
	if o.verdict == unchecked && o.known == nil && o.err == nil {
		if twin := in.fresh[o.print]; twin != nil {
			o.verdict = twin.verdict
		}
	}
	if o.perhaps {
		return
	}
	switch o.verdict {
	case forged:
		r.find(Forged, ident.Token{}, 0, fmt.Sprintf("%v with key id %v", o.kind, ident.Member(o.form.KeyID()).Short()), r.member)
	case strange:
		in.report.Unverified[ident.Member(o.form.KeyID())]++
	case genuine:
		switch o.kind {
		case envelope.Endpoint:
			in.others[o.print] = true
		case envelope.Failure:
			in.others[o.print] = true
			if f, err := certificate.PeekFailure(in.group, o.raw); err == nil {
				in.failed[f.Subject] = max(in.failed[f.Subject], f.Time)
			}
		}
	}
	if o.err != nil && o.kind != envelope.Transfer && o.kind != envelope.Genesis {
		r.find(Misfit, ident.Token{}, 0, fmt.Sprintf("%v: %v", o.kind, o.err), r.member)
	}
}

// peek reads the objects that custody rests on.
func (in *intake) peek(r journal.Record) []object {
	switch r.(type) {
	case *journal.Generated, *journal.Held, *journal.Sent, *journal.Voided:
	default:
		return nil
	}
	list := signed(r)[:1]
	in.readObject(&list[0])
	return list
}
