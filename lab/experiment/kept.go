package experiment

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// Errors about values that a part of a job keeps for the merge.
var (
	// ErrKept: the type of the runs' results has something that cannot be kept, such as a function, or two of its pointers
	// lead to one place.
	ErrKept = errors.New("experiment: this cannot be kept")
	// ErrKeptValue: the bytes are not those of a value.
	ErrKeptValue = errors.New("experiment: not a kept value")
)

// leftOut is the tag `keep:"-"` of a field that nobody reads after the run: it is not kept, and has its zero value in the merge.
const leftOut = "-"

// maxKept bounds a kept value, in bytes: the largest has three histograms of 100,000 bins, and whoever reads it has made it.
const maxKept = 256 << 20

// keep is a value as bytes, with every bit of its numbers. It has unexported fields too, since the results of runs have them.
func keep[T any](value T) ([]byte, error) {
	k := keeping{seen: map[uintptr]bool{}}
	if err := k.put(reflect.ValueOf(&value).Elem()); err != nil {
		return nil, err
	}
	var small bytes.Buffer
	w, err := flate.NewWriter(&small, flate.BestSpeed) // of histograms nearly all is zero
	if err != nil {
		return nil, err
	}
	_, err = w.Write(k.bytes)
	err = errors.Join(err, w.Close())
	return small.Bytes(), err
}

// keptValue is the value that keep has made the bytes of. Errors: ErrKeptValue.
func keptValue[T any](small []byte) (value T, err error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(small)), maxKept))
	if err != nil {
		return value, fmt.Errorf("%w: %w", ErrKeptValue, err)
	}
	r := keptReader{bytes: text}
	if err := r.get(reflect.ValueOf(&value).Elem()); err != nil {
		return value, err
	}
	if len(r.bytes) > 0 {
		return value, ErrKeptValue
	}
	return value, nil
}

// keepable says what in a type cannot be kept; nil: nothing.
func keepable(t reflect.Type, above ...reflect.Type) error {
	if slices.Contains(above, t) {
		return fmt.Errorf("%w: %v is within itself", ErrKept, t)
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		return fmt.Errorf("%w: %v", ErrKept, t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return keepable(t.Elem(), above...)
	case reflect.Map:
		return cmp.Or(keepable(t.Key(), above...), keepable(t.Elem(), above...))
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("keep") != leftOut {
				if err := keepable(f.Type, above...); err != nil {
					return fmt.Errorf("%s: %w", f.Name, err)
				}
			}
		}
	}
	return nil
}

// keeping writes a value.
type keeping struct {
	bytes []byte
	seen  map[uintptr]bool
}

// length writes the length of what may be nil: 0 for nil, and one more than the length for others.
func (k *keeping) length(isNil bool, n int) {
	if isNil {
		n = -1
	}
	k.bytes = binary.AppendUvarint(k.bytes, uint64(n+1))
}

func (k *keeping) float(v float64) {
	k.bytes = binary.LittleEndian.AppendUint64(k.bytes, math.Float64bits(v))
}

func (k *keeping) put(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		k.length(!v.Bool(), 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.bytes = binary.AppendVarint(k.bytes, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		k.bytes = binary.AppendUvarint(k.bytes, v.Uint())
	case reflect.Float32, reflect.Float64:
		k.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		k.float(real(v.Complex()))
		k.float(imag(v.Complex()))
	case reflect.String:
		k.length(false, v.Len())
		k.bytes = append(k.bytes, v.String()...)
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice {
			k.length(v.IsNil(), v.Len())
		}
		for i := range v.Len() {
			if err := k.put(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		return k.entries(v)
	case reflect.Pointer:
		k.length(v.IsNil(), 0)
		if v.IsNil() {
			return nil
		}
		if k.seen[v.Pointer()] && v.Type().Elem().Size() > 0 {
			return fmt.Errorf("%w: two pointers to one %v", ErrKept, v.Type().Elem())
		}
		k.seen[v.Pointer()] = true
		return k.put(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("keep") == leftOut {
				continue
			}
			if err := k.put(v.Field(i)); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%w: %v", ErrKept, v.Type())
	}
	return nil
}

// entries writes a map, in the order of the bytes of its keys.
func (k *keeping) entries(v reflect.Value) error {
	k.length(v.IsNil(), v.Len())
	var entries [][]byte
	for at := v.MapRange(); at.Next(); {
		one := keeping{seen: k.seen}
		if err := cmp.Or(one.put(at.Key()), one.put(at.Value())); err != nil {
			return err
		}
		entries = append(entries, one.bytes)
	}
	slices.SortFunc(entries, bytes.Compare)
	k.bytes = append(k.bytes, bytes.Join(entries, nil)...)
	return nil
}

// keptReader reads a value.
type keptReader struct{ bytes []byte }

func (r *keptReader) unsigned() (uint64, error) {
	v, n := binary.Uvarint(r.bytes)
	if n <= 0 {
		return 0, ErrKeptValue
	}
	r.bytes = r.bytes[n:]
	return v, nil
}

// length is what keeping.length wrote; -1 for nil. Each element takes a byte at least.
func (r *keptReader) length() (int, error) {
	v, err := r.unsigned()
	if err == nil && v > uint64(len(r.bytes))+1 {
		err = ErrKeptValue
	}
	return int(v) - 1, err
}

func (r *keptReader) float() (float64, error) {
	if len(r.bytes) < 8 {
		return 0, ErrKeptValue
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.bytes))
	r.bytes = r.bytes[8:]
	return v, nil
}

// settable is a field that can be set, unexported or not.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// get reads into a value that can be addressed.
func (r *keptReader) get(v reflect.Value) (err error) {
	v = settable(v)
	var n int
	switch v.Kind() {
	case reflect.Bool:
		n, err = r.length()
		v.SetBool(n >= 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, size := binary.Varint(r.bytes)
		if size <= 0 || v.OverflowInt(i) {
			return ErrKeptValue
		}
		r.bytes = r.bytes[size:]
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		var u uint64
		if u, err = r.unsigned(); err == nil && v.OverflowUint(u) {
			err = ErrKeptValue
		}
		v.SetUint(u)
	case reflect.Float32, reflect.Float64:
		var f float64
		f, err = r.float()
		v.SetFloat(f)
	case reflect.Complex64, reflect.Complex128:
		re, first := r.float()
		im, second := r.float()
		v.SetComplex(complex(re, im))
		err = cmp.Or(first, second)
	case reflect.String:
		if n, err = r.length(); err != nil || n < 0 || n > len(r.bytes) {
			return ErrKeptValue
		}
		v.SetString(string(r.bytes[:n]))
		r.bytes = r.bytes[n:]
	case reflect.Slice:
		if n, err = r.length(); err != nil || n < 0 {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		err = r.elements(v)
	case reflect.Array:
		err = r.elements(v)
	case reflect.Map:
		err = r.entries(v)
	case reflect.Pointer:
		if n, err = r.length(); err != nil || n < 0 {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		err = r.get(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("keep") == leftOut {
				continue
			}
			if err := r.get(v.Field(i)); err != nil {
				return err
			}
		}
	default:
		err = fmt.Errorf("%w: %v", ErrKept, v.Type())
	}
	return err
}

func (r *keptReader) elements(v reflect.Value) error {
	for i := range v.Len() {
		if err := r.get(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *keptReader) entries(v reflect.Value) error {
	n, err := r.length()
	if err != nil || n < 0 {
		return err
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := cmp.Or(r.get(key), r.get(value)); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
	}
	return nil
}
