package form

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wandertoken/wander/internal/cddl"
)

// ErrForm says that a text is not a form, or draws too much.
var ErrForm = errors.New("not a form")

// Form is how an object is drawn: words in prefix notation, as spec/vectors/README.md
// describes them.
type Form string

// Bounds of a form and of what is drawn for one case, so that a file that
// somebody else has written cannot ask for more: the project's own forms have
// about 500 characters and draw about 200 values of a few KiB.
const (
	maxForm  = 4096
	maxDrawn = 4096
	maxBytes = 1 << 20
)

// null is what stands for what is absent.
var null = cddl.Item{Major: cddl.Simple, Arg: 22}

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
// names. Error: ErrForm, for a form that is none.
func (f Form) Draw(stream *Stream, named map[string][]byte) (cddl.Item, error) {
	if len(f) > maxForm {
		return cddl.Item{}, fmt.Errorf("%w: form of %d characters, at most %d", ErrForm, len(f), maxForm)
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
		d.err = fmt.Errorf("%w: %s", ErrForm, fmt.Sprintf(format, args...))
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
func (d *drawing) value() cddl.Item {
	if d.drawn++; d.drawn > maxDrawn || d.bytes > maxBytes {
		d.fail("it draws too much")
		return cddl.Item{}
	}
	switch word := d.word(); word {
	case "array":
		return cddl.Item{Major: cddl.Array, Items: d.until()}
	case "map":
		return d.mapping()
	case "list":
		return d.list()
	case "maybe":
		return d.maybe()
	case "extensions":
		return d.extensions()
	case "null":
		return null
	case "bool":
		if d.stream.boolean() {
			return cddl.Item{Major: cddl.Simple, Arg: 21}
		}
		return cddl.Item{Major: cddl.Simple, Arg: 20}
	case "number":
		return cddl.Item{Major: cddl.Uint, Arg: d.stream.Number()}
	case "is":
		return cddl.Item{Major: cddl.Uint, Arg: d.constant()}
	case "minus":
		return cddl.Item{Major: cddl.Negative, Arg: d.constant() - 1}
	case "range":
		low, high := d.constant(), d.constant()
		if high < low || high-low == 1<<64-1 {
			d.fail("range from %d to %d", low, high)
			return cddl.Item{}
		}
		return cddl.Item{Major: cddl.Uint, Arg: low + d.stream.Number()%(high-low+1)}
	default:
		return d.text(word)
	}
}

// text draws strings, of bytes or characters.
func (d *drawing) text(word string) cddl.Item {
	switch word {
	case "bytes":
		return d.string(d.size())
	case "blob":
		low, high := d.size(), d.size()
		if high < low {
			d.fail("blob from %d to %d", low, high)
			return cddl.Item{}
		}
		return d.string(low + d.stream.below(high-low+1))
	case "name":
		return cddl.Item{Major: cddl.Text, Data: []byte(d.stream.Name(max(1, d.size())))}
	case "address":
		host := d.stream.Name(63)
		return cddl.Item{Major: cddl.Text, Data: fmt.Appendf(nil, "%s:%d", host, 1+d.stream.below(65535))}
	case "text":
		return cddl.Item{Major: cddl.Text, Data: []byte(d.word())}
	case "hex":
		raw, err := hex.DecodeString(d.word())
		if err != nil {
			d.fail("hexadecimal digits are wanted")
		}
		return cddl.Item{Major: cddl.Bytes, Data: raw}
	}
	if raw := d.named[word]; raw != nil {
		return cddl.Item{Major: cddl.Bytes, Data: raw}
	}
	d.fail("%q is no word of it", word)
	return cddl.Item{}
}

// string draws a byte string.
func (d *drawing) string(n int) cddl.Item {
	d.bytes += n
	return cddl.Item{Major: cddl.Bytes, Data: d.stream.Bytes(n)}
}

// mapping draws keys and values in turn.
func (d *drawing) mapping() cddl.Item {
	v := cddl.Item{Major: cddl.Map, Items: d.until()}
	for n, e := range v.Items {
		if n%2 == 0 && e.Major != cddl.Uint && e.Major != cddl.Negative && e.Major != cddl.Text || len(v.Items)%2 == 1 {
			d.fail("a map has numbers or texts as keys, and a value for each")
			return cddl.Item{}
		}
	}
	return v
}

// until draws values up to the word end.
func (d *drawing) until() (list []cddl.Item) {
	for d.err == nil && len(d.words) > 0 && d.words[0] != "end" {
		list = append(list, d.value())
	}
	d.word()
	return list
}

// list draws how many, and then as many of what follows in the form.
func (d *drawing) list() cddl.Item {
	low, high := d.size(), d.size()
	if high < low {
		d.fail("list from %d to %d", low, high)
		return cddl.Item{}
	}
	n := low + d.stream.below(high-low+1)
	words, v := d.words, cddl.Item{Major: cddl.Array}
	for range n {
		if d.err != nil {
			return cddl.Item{}
		}
		d.words = words
		v.Items = append(v.Items, d.value())
	}
	if d.err == nil {
		d.words = words
		d.skip()
	}
	return v
}

// maybe draws whether there is what follows in the form, or null.
func (d *drawing) maybe() cddl.Item {
	if d.stream.boolean() {
		return d.value()
	}
	d.skip()
	return null
}

// skip steps over a value of the form without drawing from the stream.
func (d *drawing) skip() {
	stream := d.stream
	d.stream = NewStream("skip", 0)
	d.value()
	d.stream = stream
}

// extensions draws 0 to 2 of them, under the keys 3 and 5, each a number.
func (d *drawing) extensions() cddl.Item {
	v := cddl.Item{Major: cddl.Map}
	for n := range d.stream.below(3) {
		v.Items = append(v.Items, cddl.Item{Major: cddl.Uint, Arg: uint64(2*n + 3)}, cddl.Item{Major: cddl.Uint, Arg: d.stream.Number()})
	}
	return v
}
