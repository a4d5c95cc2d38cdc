package fuzz

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wandertoken/wander/spec/vector"
)

// vectors are those of spec/vectors, read once.
var vectors = sync.OnceValue(func() []vector.Vector {
	folder := "."
	if _, here, _, _ := runtime.Caller(0); filepath.IsAbs(here) { // not with -trimpath
		folder = filepath.Dir(here) // fuzz/run -cover runs a copy of the corpora elsewhere
	}
	set := must(vector.Load(os.DirFS(filepath.Join(folder, "..", "spec", "vectors"))))
	var list []vector.Vector
	for _, file := range set.Files {
		list = append(list, file.Vectors...)
	}
	slices.SortFunc(list, func(a, b vector.Vector) int { return strings.Compare(a.Name, b.Name) })
	return list
})

// vectorsOf makes seeds of the vectors of some objects. They are of the targets'
// group, but some of their signers are nobody here, so what is valid there may be
// refused.
func vectorsOf(form func(vector.Vector) []byte, objects ...string) func() [][]byte {
	return func() (seeds [][]byte) {
		for _, v := range vectors() {
			if slices.Contains(objects, v.Object) {
				if data := form(v); data != nil {
					seeds = append(seeds, data)
				}
			}
		}
		return seeds
	}
}

// vectorSigned reports whether a vector is that signed object, whole.
func vectorSigned(kind string, raw []byte) bool {
	return slices.ContainsFunc(vectors(), func(v vector.Vector) bool {
		return v.Signed != nil && v.Signed.Kind == kind && bytes.Equal(v.Input, raw)
	})
}

func input(v vector.Vector) []byte { return v.Input }

// payload is that of a signed object, nil where it cannot be taken apart.
func payload(v vector.Vector) []byte {
	if v.Signed == nil {
		return nil
	}
	return v.Signed.Payload
}

// keySignatureMessage is the form of FuzzSignature.
func keySignatureMessage(v vector.Vector) []byte {
	return slices.Concat(v.With["key"], v.Input, v.With["message"])
}

// enrolmentObjects are the objects of FuzzEnrolment in the order of their numbers.
var enrolmentObjects = []string{"enrol-request", "enrol-answer", "renew-answer", "sync-request", "sync-answer", "leave-request", "refusal"}

// numbered puts a byte in front that says which of some objects it is; of a signed
// one the payload follows.
func numbered(objects ...string) func(vector.Vector) []byte {
	return func(v vector.Vector) []byte {
		data := payload(v)
		if data == nil {
			data = v.Input
		}
		return append([]byte{byte(slices.Index(objects, v.Object))}, data...)
	}
}
