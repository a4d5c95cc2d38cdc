package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// ErrNoJournal says that a folder has no journal, or one without a record.
var ErrNoJournal = errors.New("no journal segments with records in this folder")

// ErrUnknown says that the input is no object of the project.
var ErrUnknown = errors.New("not recognised: no PEM block, signed object, message, frame or journal segment")

// MaxInput bounds an input that is not a journal folder, in bytes: above the
// largest segment.
const MaxInput = 256 << 20

// Objects recognises everything in an input with this name. An error ends the
// sequence; what came before it is good.
func (i *Inspector) Objects(name string, data []byte) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		switch {
		case bytes.Contains(data[:min(len(data), 4096)], []byte("-----BEGIN WANDER")):
			i.blocks(data, yield)
		case isSegment(name, data):
			i.segment(name, data, yield)
		default:
			i.single(data, yield)
		}
	}
}

// isSegment goes by the name, too, so that what is left of a damaged segment is
// called that.
func isSegment(name string, data []byte) bool {
	if _, named := journal.ParseSegmentName(filepath.Base(name)); named {
		return true
	}
	_, err := journal.ParseSegmentHeader(name, data)
	return !errors.Is(err, journal.ErrMagic)
}

// blocks shows the blocks of a PEM text. Secrets are named and not shown.
func (i *Inspector) blocks(text []byte, yield func(Object, error) bool) {
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		yield(Object{}, err)
		return
	}
	i = i.within(blocks)
	for _, b := range blocks {
		if b.Type == keyfile.Certificate {
			i.Learn(b.Bytes)
		}
	}
	for _, b := range blocks {
		if b.Type == keyfile.Evidence {
			if o, err := i.evidence(b.Bytes); !yield(o, err) || err != nil {
				return
			}
			continue
		}
		o, ok := i.signed(b.Bytes)
		switch {
		case b.Type == keyfile.PrivateKey || b.Type == keyfile.EncryptedPrivateKey:
			o = Object{What: b.Type, Fields: Fields{{"secret", "not shown"}}}
		case !ok:
			o = Object{What: b.Type, Fields: Fields{{"bytes", structure(reflect.ValueOf(b.Bytes), i.open)}}}
		case o.What == unrecognised:
			// The label claims this, and nothing confirms it.
			o.What = strings.TrimPrefix(b.Type, "WANDER ") + " by its label"
		}
		if !yield(o, nil) {
			return
		}
	}
}

// single shows one signed object or one message, framed or not.
func (i *Inspector) single(data []byte, yield func(Object, error) bool) {
	if o, ok := i.signed(data); ok {
		yield(o, nil)
		return
	}
	if m, err := wire.Decode(data); err == nil {
		yield(i.message(m), nil)
		return
	}
	r := bytes.NewReader(data)
	for n := 0; ; n++ {
		body, err := wire.ReadFrame(r, nil)
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		if err != nil && n == 0 {
			yield(Object{}, ErrUnknown)
			return
		}
		if err != nil {
			yield(Object{}, fmt.Errorf("frame %d: %w", n+1, err))
			return
		}
		m, err := wire.Decode(body)
		if err != nil {
			yield(Object{}, fmt.Errorf("frame %d: %w", n+1, err))
			return
		}
		if !yield(i.message(m), nil) {
			return
		}
	}
}

func (i *Inspector) message(m wire.Message) Object {
	f, _ := structure(reflect.ValueOf(m), i.open).(Fields)
	return Object{What: m.Type().String(), Fields: f}
}

// segment shows one segment of a journal.
func (i *Inspector) segment(name string, data []byte, yield func(Object, error) bool) {
	r, err := journal.NewReader(name, data)
	if err != nil {
		yield(Object{}, err)
		return
	}
	h := r.Header()
	head := Object{What: "journal segment", Fields: Fields{
		{"number", h.Number}, {"first_seq", h.FirstSeq}, {"group", h.Group.String()}, {"member", h.Member.String()},
		{"created", time.UnixMilli(int64(h.Created)).UTC().Format(time.RFC3339)},
	}}
	if !yield(head, nil) {
		return
	}
	i.frames(func(yield func(journal.Frame, error) bool) {
		for {
			f, err := r.Next()
			if errors.Is(err, io.EOF) || !yield(f, err) || err != nil {
				return
			}
		}
	}, yield)
}

// Journal shows all segments of the journal in a folder, oldest record first,
// without the copies that checkpoints hold. It ends with ErrNoJournal where there
// is none.
func (i *Inspector) Journal(dir string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		found, goesOn := false, true
		i.frames(func(yield func(journal.Frame, error) bool) {
			for f, err := range store.Frames(nil, dir) {
				found = true
				if err == nil && (f.FromCheckpoint || len(f.Body) == 0) {
					continue
				}
				if !yield(f.Frame, err) || err != nil {
					return
				}
			}
		}, func(o Object, err error) bool {
			goesOn = goesOn && yield(o, err)
			return goesOn
		})
		if !found && goesOn {
			yield(Object{}, ErrNoJournal)
		}
	}
}

// framesAtOnce is how many frames are shown at once, on all processors: so many that starting goroutines costs
// little, and so few that a long journal needs little memory.
const framesAtOnce = 512

// record is one frame, decoded.
type record struct {
	frame journal.Frame
	at    uint64
	body  journal.Record // nil: the frame has none
}

// frames shows frames in their order, up to the first error. An object is verified by the certificates that come before it, or among the next
// framesAtOnce frames.
func (i *Inspector) frames(from iter.Seq2[journal.Frame, error], yield func(Object, error) bool) {
	batch, shown := make([]record, 0, framesAtOnce), make([]Object, framesAtOnce)
	flush := func() bool {
		i.showAll(batch, shown)
		for at := range batch {
			if !yield(shown[at], nil) {
				return false
			}
		}
		batch = batch[:0]
		return true
	}
	for f, err := range from {
		r := record{frame: f}
		if err == nil && len(f.Body) > 0 {
			if r.at, r.body, err = journal.Decode(f.Body); err != nil {
				err = fmt.Errorf("record %d at offset %d: %w", f.Seq, f.Offset, err)
			}
		}
		if err != nil {
			if flush() {
				yield(Object{}, err)
			}
			return
		}
		if k, ok := r.body.(*journal.Known); ok && k.What == journal.KnownCertificate {
			i.Learn(k.Object)
		}
		if batch = append(batch, r); len(batch) == framesAtOnce && !flush() {
			return
		}
	}
	flush()
}

// showAll shows decoded frames, on all processors. Nothing is learned meanwhile.
func (i *Inspector) showAll(records []record, shown []Object) {
	i.learnt = true
	var all sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		all.Go(func() {
			for at := w * len(records) / workers; at < (w+1)*len(records)/workers; at++ {
				shown[at] = i.frame(&records[at])
			}
		})
	}
	all.Wait()
	i.learnt = false
}

func (i *Inspector) frame(r *record) Object {
	to := strconv.AppendUint(nil, r.frame.Seq, 10)
	if r.body == nil {
		return Object{What: string(fmt.Append(append(to, ' '), r.frame.Type))}
	}
	to = time.UnixMicro(int64(r.at)).UTC().AppendFormat(append(to, ' '), "2006-01-02T15:04:05.000000Z")
	to = append(append(to, ' '), r.body.Kind().String()...)
	if r.frame.FromCheckpoint {
		to = append(to, " (carried)"...)
	}
	fields, _ := structure(reflect.ValueOf(r.body), i.open).(Fields)
	return Object{What: string(to), Fields: fields}
}
