package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"strings"
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
	for {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			yield(Object{}, err)
			return
		}
		o, err := i.frame(f)
		if !yield(o, err) || err != nil {
			return
		}
	}
}

// Journal shows all segments of the journal in a folder, oldest record first,
// without the copies that checkpoints hold. It ends with ErrNoJournal where there
// is none.
func (i *Inspector) Journal(dir string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		found := false
		for f, err := range store.Frames(nil, dir) {
			if err != nil {
				yield(Object{}, err)
				return
			}
			found = true
			if f.FromCheckpoint || len(f.Body) == 0 {
				continue
			}
			o, err := i.frame(f.Frame)
			if !yield(o, err) || err != nil {
				return
			}
		}
		if !found {
			yield(Object{}, ErrNoJournal)
		}
	}
}

func (i *Inspector) frame(f journal.Frame) (Object, error) {
	if len(f.Body) == 0 {
		return Object{What: fmt.Sprintf("%d %v", f.Seq, f.Type)}, nil
	}
	at, r, err := journal.Decode(f.Body)
	if err != nil {
		return Object{}, fmt.Errorf("record %d at offset %d: %w", f.Seq, f.Offset, err)
	}
	if k, ok := r.(*journal.Known); ok && k.What == journal.KnownCertificate {
		i.Learn(k.Object)
	}
	fields, _ := structure(reflect.ValueOf(r), i.open).(Fields)
	what := fmt.Sprintf("%d %s %v", f.Seq, time.UnixMicro(int64(at)).UTC().Format("2006-01-02T15:04:05.000000Z"), r.Kind())
	if f.FromCheckpoint {
		what += " (carried)"
	}
	return Object{What: what, Fields: fields}, nil
}
