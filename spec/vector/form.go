package vector

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Value is what is drawn for one place of an object, before it is encoded.
type Value struct {
	Kind  ValueKind
	Num   uint64 // of a Number; of a Negative, -1 less it
	Bytes []byte // of Bytes and Text
	List  []Value
}

// ValueKind says what a Value is.
type ValueKind int

// The kinds of values. A Mapping lists keys and values in turn.
const (
	Null ValueKind = iota
	Number
	Negative
	Truth // Num is 0 or 1
	ByteString
	Text
	List
	Mapping
)

// Form is how an object is drawn: words in prefix notation, as the README
// describes them.
type Form string

// Bounds of a form and of what is drawn for one case, so that a file that
// somebody else has written cannot ask for more: the project's own forms have
// about 500 characters and draw about 200 values of a few KiB.
const (
	maxForm  = 4096
	maxDrawn = 4096
	maxBytes = maxInput
)

// drawing reads a form word by word and draws.
type drawing struct {
	words  []string
	stream *Stream
	named  map[string][]byte // what stands for itself: ids and keys
	drawn  int               // values so far
	bytes  int               // in their strings
	err    error
}

// Draw makes the value of one case. named are the ids and keys that the form
// names. Error: ErrFile, for a form that is none.
func (f Form) Draw(stream *Stream, named map[string][]byte) (Value, error) {
	if len(f) > maxForm {
		return Value{}, fmt.Errorf("%w: form of %d characters, at most %d", ErrFile, len(f), maxForm)
	}
	d := &drawing{words: strings.Fields(string(f)), stream: stream, named: named}
	v := d.value()
	if d.err == nil && len(d.words) > 0 {
		d.fail("words behind it: %q", d.words[0])
	}
	return v, d.err
}

func (d *drawing) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: form: %s", ErrFile, fmt.Sprintf(format, args...))
	}
	d.words = nil
}

func (d *drawing) word() string {
	if len(d.words) == 0 {
		d.fail("it ends early")
		return ""
	}
	w := d.words[0]
	d.words = d.words[1:]
	return w
}

// constant is a number in the form.
func (d *drawing) constant() uint64 {
	n, err := strconv.ParseUint(d.word(), 10, 64)
	if err != nil {
		d.fail("a number is wanted")
	}
	return n
}

// size is a constant that bounds a length: at most 65535, so that below can draw
// it.
func (d *drawing) size() int {
	n := d.constant()
	if n > 1<<16-1 {
		d.fail("%d is too long", n)
		return 0
	}
	return int(n)
}

// value draws what the next word says.
func (d *drawing) value() Value {
	if d.drawn++; d.drawn > maxDrawn || d.bytes > maxBytes {
		d.fail("it draws too much")
		return Value{}
	}
	switch word := d.word(); word {
	case "array":
		return Value{Kind: List, List: d.until()}
	case "map":
		return d.mapping()
	case "list":
		return d.list()
	case "maybe":
		return d.maybe()
	case "extensions":
		return d.extensions()
	case "null":
		return Value{}
	case "bool":
		v := Value{Kind: Truth}
		if d.stream.boolean() {
			v.Num = 1
		}
		return v
	case "number":
		return Value{Kind: Number, Num: d.stream.Number()}
	case "is":
		return Value{Kind: Number, Num: d.constant()}
	case "minus":
		return Value{Kind: Negative, Num: d.constant() - 1}
	case "range":
		low, high := d.constant(), d.constant()
		if high < low || high-low == 1<<64-1 {
			d.fail("range from %d to %d", low, high)
			return Value{}
		}
		return Value{Kind: Number, Num: low + d.stream.Number()%(high-low+1)}
	default:
		return d.text(word)
	}
}

// text draws strings, of bytes or characters.
func (d *drawing) text(word string) Value {
	switch word {
	case "bytes":
		return d.string(d.size())
	case "blob":
		low, high := d.size(), d.size()
		if high < low {
			d.fail("blob from %d to %d", low, high)
			return Value{}
		}
		return d.string(low + d.stream.below(high-low+1))
	case "name":
		return Value{Kind: Text, Bytes: []byte(d.stream.Name(max(1, d.size())))}
	case "address":
		host := d.stream.Name(63)
		return Value{Kind: Text, Bytes: fmt.Appendf(nil, "%s:%d", host, 1+d.stream.below(65535))}
	case "text":
		return Value{Kind: Text, Bytes: []byte(d.word())}
	case "hex":
		raw, err := hex.DecodeString(d.word())
		if err != nil {
			d.fail("hexadecimal digits are wanted")
		}
		return Value{Kind: ByteString, Bytes: raw}
	}
	if raw := d.named[word]; raw != nil {
		return Value{Kind: ByteString, Bytes: raw}
	}
	d.fail("%q is no word of it", word)
	return Value{}
}

// string draws a byte string.
func (d *drawing) string(n int) Value {
	d.bytes += n
	return Value{Kind: ByteString, Bytes: d.stream.Bytes(n)}
}

// mapping draws keys and values in turn.
func (d *drawing) mapping() Value {
	v := Value{Kind: Mapping, List: d.until()}
	for n, e := range v.List {
		if n%2 == 0 && e.Kind != Number && e.Kind != Negative && e.Kind != Text || len(v.List)%2 == 1 {
			d.fail("a map has numbers or texts as keys, and a value for each")
			return Value{}
		}
	}
	return v
}

// until draws values up to the word end.
func (d *drawing) until() (list []Value) {
	for d.err == nil && len(d.words) > 0 && d.words[0] != "end" {
		list = append(list, d.value())
	}
	d.word()
	return list
}

// list draws how many, and then as many of what follows in the form.
func (d *drawing) list() Value {
	low, high := d.size(), d.size()
	if high < low {
		d.fail("list from %d to %d", low, high)
		return Value{}
	}
	n := low + d.stream.below(high-low+1)
	form, v := d.words, Value{Kind: List}
	for range n {
		if d.err != nil {
			return Value{}
		}
		d.words = form
		v.List = append(v.List, d.value())
	}
	if d.err == nil {
		d.words = form
		d.skip()
	}
	return v
}

// maybe draws whether there is what follows in the form, or null.
func (d *drawing) maybe() Value {
	if d.stream.boolean() {
		return d.value()
	}
	d.skip()
	return Value{}
}

// skip steps over a value of the form without drawing from the stream.
func (d *drawing) skip() {
	stream := d.stream
	d.stream = NewStream("skip", 0)
	d.value()
	d.stream = stream
}

// extensions draws 0 to 2 of them, under the keys 3 and 5, each a number.
func (d *drawing) extensions() Value {
	v := Value{Kind: Mapping}
	for n := range d.stream.below(3) {
		v.List = append(v.List, Value{Kind: Number, Num: uint64(2*n + 3)}, Value{Kind: Number, Num: d.stream.Number()})
	}
	return v
}
