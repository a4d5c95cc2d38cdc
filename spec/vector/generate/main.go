package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wandertoken/wander/spec/vector"
)

func main() {
	dir := flag.String("o", "spec/vectors", "folder to write to")
	flag.Parse()
	if err := write(*dir); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	files, err := generate(vector.FullCases)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if files[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes all files by their names; the hashes are over so many cases.
func generate(cases int) (map[string][]byte, error) {
	s := newSuite()
	for _, o := range objects() {
		s.signedObject(o)
	}
	for _, family := range []func(){
		s.signatureVectors, s.cborVectors, s.successionVectors, s.gateCertificates, s.permitVectors, func() { gateFrameVectors(s) }, s.messageVectors, s.frameVectors, s.updateVectors, s.policyVectors,
		s.inviteVectors, s.enrolmentVectors, s.recordVectors, s.segmentVectors, s.tlsVectors, s.connectionVectors, s.evidenceVectors, s.scenarioVectors,
	} {
		family()
	}
	files := make(map[string][]byte)
	for name, f := range s.files {
		if err := render(files, name, f); err != nil {
			return nil, err
		}
	}
	if err := render(files, vector.PartiesFile, partiesFile()); err != nil {
		return nil, err
	}
	hashes, err := hashesFile(cases)
	if err != nil {
		return nil, err
	}
	if err := render(files, vector.HashesFile, hashes); err != nil {
		return nil, err
	}
	return files, render(files, vector.IndexFile, s.index(files))
}

// index lists the files that are made by now.
func (s *suite) index(files map[string][]byte) vector.Index {
	x := vector.Index{V: vector.Version, About: "The files of this folder, and how much is in them.", Files: make(map[string]vector.Count)}
	for name := range files {
		x.Files[name] = vector.Count{}
		if f := s.files[name]; f != nil {
			x.Files[name] = f.Count()
		}
	}
	return x
}

// render writes one file as JSON.
func render(files map[string][]byte, name string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	files[name] = b.Bytes()
	return nil
}
