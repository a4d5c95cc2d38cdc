package vector

import "errors"

// Why a directory of vectors cannot be run. A vector that runs and comes to
// another outcome is no error but a failure in the report.
var (
	// ErrNoVectors says that there is no vector at all.
	ErrNoVectors = errors.New("no vectors here")
	// ErrFile says that a file is not JSON of the form that README.md there
	// describes, or is too large.
	ErrFile = errors.New("not a file of vectors")
	// ErrVersion says that a file is of a version that is not known here.
	ErrVersion = errors.New("vectors of an unknown version")
	// ErrIncomplete says that the files are not those that index.json lists.
	ErrIncomplete = errors.New("not all vectors are here, or others")
	// ErrClass says that a class is not one of the three, or does not fit the outcome.
	ErrClass = errors.New("wrong class")
	// ErrName says that a vector has no name, or that of another.
	ErrName = errors.New("vectors need different names")
	// ErrObject says that a vector is of an object that is not known here.
	ErrObject = errors.New("unknown object")
	// ErrOutcome says that an outcome is neither "valid" nor the name of an
	// error.
	ErrOutcome = errors.New("unknown outcome")
	// ErrBytes says that a byte string is not written as Bytes is.
	ErrBytes = errors.New("not bytes in hexadecimal")
	// ErrParties says that keys.json names keys that are none.
	ErrParties = errors.New("unusable keys")
)
