package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// writeBills writes what each program is made of, as the Go command has recorded it in the program.
func (r *release) writeBills(context.Context) error {
	for _, t := range r.targets {
		var b bytes.Buffer
		bom, err := r.bill(t)
		if err != nil {
			return err
		}
		if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
			return err
		}
		if err := r.put(r.named("%s_%s.cdx.json", t.system, t.processor), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) bill(t target) (*cyclonedx.BOM, error) {
	program, err := os.ReadFile(r.programs[t])
	if err != nil {
		return nil, err
	}
	built, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(program)
	self := cyclonedx.Component{
		BOMRef: "wander", Type: cyclonedx.ComponentTypeApplication, Name: "wander", Version: r.version,
		PackageURL: fmt.Sprintf("pkg:golang/%s@%s", built.Main.Path, r.version),
		Hashes:     &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}},
		Properties: &[]cyclonedx.Property{{Name: "commit", Value: r.commit}, {Name: "target", Value: t.String()}},
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = serialNumber(sum)
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.date.Format(time.RFC3339), Component: &self}
	components := []cyclonedx.Component{{
		BOMRef: "std", Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: built.GoVersion, Licenses: licence("BSD-3-Clause"),
		PackageURL: "pkg:golang/std@" + built.GoVersion,
	}}
	refs := []string{"std"}
	for _, m := range built.Deps {
		c := r.component(m)
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: self.BOMRef, Dependencies: &refs}}
	return bom, nil
}

func (r *release) component(m *debug.Module) cyclonedx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	url := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
	return cyclonedx.Component{
		BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url, Licenses: licence(r.licences[m.Path]),
		Properties: &[]cyclonedx.Property{{Name: "go.sum", Value: m.Sum}},
	}
}

// licence is a licence by its SPDX id; nil if it is not known.
func licence(id string) *cyclonedx.Licenses {
	if id == "" {
		return nil
	}
	return &cyclonedx.Licenses{{License: &cyclonedx.License{ID: id}}}
}

// serialNumber is a UUID (version 8: made of what its maker likes) of a program's hash: the same program has the same.
func serialNumber(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// licenceRow is a row of the README's table of modules.
var licenceRow = regexp.MustCompile(`(?m)^\| \[([^]]+)\]\([^)]+\) \| v[^ ]+ \| ([^ |]+) \|`)

// readLicences reads the licences of the modules that the README lists.
func readLicences(readme string) (map[string]string, error) {
	text, err := os.ReadFile(readme)
	if err != nil {
		return nil, err
	}
	licences := make(map[string]string)
	for _, row := range licenceRow.FindAllStringSubmatch(string(text), -1) {
		licences[row[1]] = row[2]
	}
	return licences, nil
}
