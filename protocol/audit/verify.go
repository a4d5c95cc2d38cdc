package audit

import (
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
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
	err     error
	objects []object
}

// enqueue puts an item behind the others, and works on all when they are many.
func (a *auditor) enqueue(it item) {
	a.queue = append(a.queue, it)
	if len(a.queue) >= queueLength {
		a.flush()
	}
}

// flush works on what waits: reads it, verifies all signatures that have not
// been seen, and takes it in, in order.
func (a *auditor) flush() {
	parts := (len(a.queue) + readPart - 1) / readPart
	a.parallel(parts, func(n int) {
		for i := n * readPart; i < min((n+1)*readPart, len(a.queue)); i++ {
			a.decode(&a.queue[i])
		}
	})
	a.verify(a.unverified())
	for i := range a.queue {
		a.take(&a.queue[i])
	}
	clear(a.queue)
	a.queue = a.queue[:0]
}

// decode reads a frame's record and the objects in it.
func (a *auditor) decode(it *item) {
	if it.event != nil || len(it.frame.Body) == 0 {
		return
	}
	if it.at, it.record, it.err = journal.Decode(it.frame.Body); it.err != nil {
		return
	}
	it.objects = signed(it.record)
	for i := range it.objects {
		a.readObject(&it.objects[i])
	}
}

// unverified collects the objects whose signature is to be checked, each once.
// Those whose signer is not known are told apart.
func (a *auditor) unverified() (list []*object) {
	fresh := make(map[print]*object)
	for i := range a.queue {
		for j := range a.queue[i].objects {
			o := &a.queue[i].objects[j]
			if o.known != nil || o.verdict != unchecked || o.err != nil {
				continue
			}
			if a.signer(o) == nil {
				o.verdict = strange
				continue
			}
			if fresh[o.print] == nil {
				fresh[o.print] = o
				list = append(list, o)
			}
		}
	}
	a.fresh = fresh
	return list
}

// verify checks signatures, in batches or one by one. A batch that fails is
// gone through one by one by package signature, so the guilty one is found.
func (a *auditor) verify(list []*object) {
	a.report.Signatures += len(list)
	parts := (len(list) + batchSize - 1) / batchSize
	seeds := make([][32]byte, parts)
	for i := range seeds {
		io.ReadFull(a.random, seeds[i][:]) // what is missing stays zero, see signature.Batch
	}
	a.parallel(parts, func(n int) {
		part := list[n*batchSize : min((n+1)*batchSize, len(list))]
		if a.oneByOne {
			a.verifyEach(part)
		} else {
			a.verifyTogether(part, seeds[n])
		}
	})
}

func (a *auditor) verifyEach(part []*object) {
	for _, o := range part {
		_, err := o.form.Verify(a.signer(o))
		o.judge(err)
	}
}

func (a *auditor) verifyTogether(part []*object, seed [32]byte) {
	var batch envelope.Batch
	for _, o := range part {
		batch.Add(o.form, a.signer(o))
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
func (a *auditor) take(it *item) {
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
	a.report.Records++
	for i := range it.objects {
		a.judged(r, &it.objects[i])
	}
	r.record(Entry{At: it.at, Seq: it.frame.Seq, Record: it.record}, it.frame.Carried, it.objects)
}

// judged copies the verdict on an object that stood in the queue twice, and
// tells of a bad one.
func (a *auditor) judged(r *Reader, o *object) {
	if o.verdict == unchecked && o.known == nil && o.err == nil {
		if twin := a.fresh[o.print]; twin != nil {
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
		a.report.Unverified[ident.Member(o.form.KeyID())]++
	case genuine:
		switch o.kind {
		case envelope.Endpoint:
			a.others[o.print] = true
		case envelope.Failure:
			a.others[o.print] = true
			if f, err := certificate.PeekFailure(a.group, o.raw); err == nil {
				a.failed[f.Subject] = max(a.failed[f.Subject], f.Time)
			}
		}
	}
	if o.err != nil && o.kind != envelope.Transfer && o.kind != envelope.Genesis {
		r.find(Misfit, ident.Token{}, 0, fmt.Sprintf("%v: %v", o.kind, o.err), r.member)
	}
}
