package main

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/internal/cddl"
)

// spelling is one wrong encoding of a whole item.
type spelling struct {
	slug, about, req, cause string
	data                    []byte
	malicious               bool
}

// as is the fault of a spelling, with what stands before its name and its meaning.
func (p spelling) as(slug, about, outcome string) fault {
	f := fault{slug: slug + p.slug, about: about + p.about, req: p.req, outcome: outcome, cause: p.cause}
	if p.malicious {
		f = f.malicious()
	}
	return f
}

// spellings derives from an item all its encodings that are wrong in one place:
// of the whole, and of each item down to a depth.
func spellings(i item, depth int) []spelling {
	good := encode(i)
	list := []spelling{
		{slug: "trailing", about: "one byte behind the item", req: "C-2", cause: "canonical.ErrTrailing", data: append(bytes.Clone(good), 0)},
		{slug: "truncated", about: "the last byte is missing", req: "C-2", cause: "canonical.ErrTruncated", data: good[:len(good)-1]},
	}
	return append(list, spellingsAt(i, nil, depth)...)
}

// spellingsAt are those of the item at a path and of what is in it.
func spellingsAt(whole item, path []int, depth int) []spelling {
	i := *at(&whole, path...)
	list := ownSpellings(i)
	for n := range list {
		list[n].data = spelled(whole, list[n].data, path...)
		list[n].slug += place(path)
		list[n].about = fmt.Sprintf("%s: %s", where(path), list[n].about)
	}
	if depth == 0 {
		return list
	}
	for n := range i.Items {
		list = append(list, spellingsAt(whole, append(longer(path), n), depth-1)...)
	}
	return list
}

// longer is a copy of a path with room for one more.
func longer(path []int) []int { return append(make([]int, 0, len(path)+1), path...) }

// place is a path as the end of a name.
func place(path []int) string {
	s := ""
	for _, n := range path {
		s += fmt.Sprintf("-%d", n)
	}
	return s
}

// where is a path in words.
func where(path []int) string {
	if len(path) == 0 {
		return "the whole"
	}
	return fmt.Sprintf("the item at %v", path)
}

// ownSpellings are the wrong spellings of one item as such.
func ownSpellings(i item) []spelling {
	enc := encode(i)
	list := []spelling{{slug: "tagged", about: "a tag before it", req: "C-2", cause: "canonical.ErrTag", data: append([]byte{0xc0}, enc...)}}
	if i.Major != cddl.Simple && countOf(i) < 1<<32 { // a longer head is there
		list = append(list, spelling{slug: "long-head", about: "a head that is longer than needed", req: "C-1", cause: "canonical.ErrNotShortest", data: append(longHead(i), content(i)...)})
	}
	switch i.Major {
	case cddl.Uint:
		return append(list,
			spelling{slug: "float", about: "floating point in place of a number", req: "C-2", cause: "canonical.ErrType", data: []byte{0xf9, 0x3c, 0x00}},
			spelling{slug: "undefined", about: "undefined in its place", req: "C-2", cause: "canonical.ErrType", data: []byte{0xf7}})
	case cddl.Bytes:
		return append(list, indefinite(i, 0x5f), lying(i))
	case cddl.Text:
		list = append(list, indefinite(i, 0x7f), lying(i))
		if len(i.Data) > 0 {
			list = append(list, spelling{slug: "utf8", about: "text that is not UTF-8", req: "C-2", cause: "canonical.ErrUTF8", data: append(head(i, countOf(i)), append(repeat('a', len(i.Data)-1), 0xff)...)})
		}
	case cddl.Array:
		list = append(list, indefinite(i, 0x9f), lying(i), million(i))
	case cddl.Map:
		list = append(list, indefinite(i, 0xbf), lying(i), million(i))
	}
	return list
}

// indefinite is the item with an indefinite length: strings in one chunk.
func indefinite(i item, first byte) spelling {
	inner := content(i)
	if i.Major == cddl.Bytes || i.Major == cddl.Text {
		inner = encode(i)
	}
	return spelling{slug: "indefinite", about: "an indefinite length", req: "C-2", cause: "canonical.ErrIndefinite", data: append(append([]byte{first}, inner...), 0xff)}
}

// lying claims a length that nothing has: whoever believes it allocates 2^63-1
// bytes or items.
func lying(i item) spelling {
	return spelling{
		slug: "lie", about: "a length of 2^63-1 that nothing has", req: "C-3", cause: "canonical.ErrTruncated", malicious: true,
		data: append(head(i, 1<<63-1), content(i)...),
	}
}

// million claims a million entries.
func million(i item) spelling {
	return spelling{
		slug: "million", about: "a million entries are claimed that are not there", req: "C-3", cause: "canonical.ErrTruncated", malicious: true,
		data: append(head(i, 1_000_000), content(i)...),
	}
}

// reshaped is an item that is well encoded and has not the shape of its rule.
type reshaped struct {
	slug, about string
	item        item
}

// shapes derives from an array all the items that are of another shape in one
// place. free are fields whose length may vary, and optional those that may be
// null; both are left alone in that.
func shapes(whole item, path []int, free, optional map[int]bool) []reshaped {
	i := *at(&whole, path...)
	list := []reshaped{
		{"fewer" + place(path), "the last field is missing", changed(whole, func(p *item) { p.Items = p.Items[:len(p.Items)-1] }, path...)},
		{"more" + place(path), "one field more", changed(whole, func(p *item) { p.Items = append(p.Items, uintOf(0)) }, path...)},
	}
	for n, field := range i.Items {
		here := append(longer(path), n)
		add := func(slug, about string, replacement item) {
			list = append(list, reshaped{slug + place(here), where(here) + ": " + about, with(whole, replacement, here...)})
		}
		if !optional[n] {
			add("null", "null in its place", null)
		}
		add("other-type", "an item of another type", otherType(field))
		if field.Major == cddl.Bytes && !free[n] && len(field.Data) > 0 {
			add("shorter", "one byte shorter", bstr(field.Data[1:]))
			add("longer", "one byte longer", bstr(append(bytes.Clone(field.Data), 0)))
		}
	}
	return list
}

// otherType is an item of another major type, which fits nowhere where the
// first one does.
func otherType(i item) item {
	switch i.Major {
	case cddl.Uint:
		return text("1")
	case cddl.Text:
		return bstr(i.Data)
	case cddl.Bytes:
		return text("bytes")
	case cddl.Simple:
		return uintOf(1)
	}
	return uintOf(0)
}
