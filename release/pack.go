package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the form
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the form
)

// defaultMaintainer is who answers for packages that somebody builds for themselves.
const defaultMaintainer = "wander packages built here <root@localhost>"

const description = `Share one legacy resource among many machines, without a server
Members of a group pass signed tokens over QUIC. The holder of a token may use
the resource: an FTP server, a backbone link, a nightly backup window.`

// place is where a distribution looks for something.
type place struct{ zsh string }

// packageForms are the forms of packages.
var packageForms = []struct {
	form  string
	place place
}{
	{"deb", place{zsh: "usr/share/zsh/vendor-completions"}},
	{"rpm", place{zsh: "usr/share/zsh/site-functions"}},
}

// pack makes the packages for the processors of Linux.
func (r *release) pack(context.Context) error {
	units, err := r.units()
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		if t.system != "linux" {
			continue
		}
		for _, p := range packageForms {
			if err := r.packAs(p.form, p.place, t, units); err != nil {
				return fmt.Errorf("%s for %v: %w", p.form, t, err)
			}
		}
	}
	return nil
}

// units are the units of systemd.
func (r *release) units() (list []file, err error) {
	for _, name := range []string{"wander.service", "wander-ca.service", "wander-gate.service", "wander@.service", "wander@.timer"} {
		data, err := os.ReadFile(filepath.Join(r.dir, "release", "systemd", name))
		if err != nil {
			return nil, err
		}
		list = append(list, file{name, data, 0o644})
	}
	return list, nil
}

func (r *release) packAs(form string, at place, t target, units []file) error {
	packager, err := nfpm.Get(form)
	if err != nil {
		return err
	}
	info, err := r.info(form, at, t, units)
	if err != nil {
		return err
	}
	info = nfpm.WithDefaults(info)
	if err := nfpm.PrepareForPackager(info, form); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := packager.Package(info, &b); err != nil {
		return err
	}
	return r.put(packager.ConventionalFileName(info), b.Bytes())
}

func (r *release) info(form string, at place, t target, units []file) (*nfpm.Info, error) {
	contents, err := r.contents(at, t, units)
	if err != nil {
		return nil, err
	}
	script := func(name string) string { return filepath.Join(r.dir, "release", "scripts", name) }
	info := &nfpm.Info{
		Name: "wander", Arch: t.processor, Platform: t.system, Version: r.version, VersionSchema: "none", Release: "1",
		Section: "net", Priority: "optional", Maintainer: r.maintainer, Description: description,
		Homepage: "https://github.com/wandertoken/wander", License: "not chosen yet", MTime: r.date,
		Overridables: nfpm.Overridables{
			Contents:   contents,
			Recommends: []string{"tzdata"},
			Scripts:    nfpm.Scripts{PostInstall: script("postinstall.sh"), PreRemove: script("preremove.sh"), PostRemove: script("postremove.sh")},
			Umask:      0o022,
		},
	}
	switch form {
	case "deb":
		info.Depends = []string{"passwd"}
	case "rpm":
		info.Depends = []string{"shadow-utils"}
		info.RPM.BuildHost = "localhost"
		info.RPM.Group = "System Environment/Daemons"
		info.RPM.Summary, _, _ = strings.Cut(description, "\n")
	}
	return info, nil
}

// contents are the files of a package.
func (r *release) contents(at place, t target, units []file) (files.Contents, error) {
	stage := filepath.Join(r.scratch, "stage", strings.ReplaceAll(at.zsh, "/", "-"))
	var list files.Contents
	add := func(name string, f file, kind string) error {
		source := filepath.Join(stage, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(source, f.data, 0o600); err != nil {
			return err
		}
		list = append(list, r.content(source, name, f.mode, kind))
		return nil
	}
	list = append(list, r.content(r.programs[t], "usr/bin/wander", 0o755, ""))
	for _, f := range units {
		if err := add("usr/lib/systemd/system/"+f.name, f, ""); err != nil {
			return nil, err
		}
	}
	for _, f := range r.manual {
		if err := add("usr/share/man/man1/"+f.name, f, ""); err != nil {
			return nil, err
		}
	}
	shells := map[string]string{"bash": "usr/share/bash-completion/completions", "fish": "usr/share/fish/vendor_completions.d", "zsh": at.zsh}
	for _, f := range r.completions {
		if err := add(path.Join(shells[path.Dir(f.name)], path.Base(f.name)), f, ""); err != nil {
			return nil, err
		}
	}
	for _, f := range r.documents {
		if err := add("usr/share/doc/wander/"+f.name, f, ""); err != nil {
			return nil, err
		}
	}
	if err := add("usr/share/doc/wander/copyright", file{data: []byte(copyright), mode: 0o644}, ""); err != nil {
		return nil, err
	}
	for source, name := range map[string]string{"sysusers.conf": "usr/lib/sysusers.d/wander.conf"} {
		list = append(list, r.content(filepath.Join(r.dir, "release", "systemd", source), name, 0o644, ""))
	}
	gate := filepath.Join(r.dir, "release", "systemd", "wander-gate.default")
	return append(list, r.content(gate, "etc/default/wander-gate", 0o644, files.TypeConfigNoReplace)), nil
}

const copyright = `wander, https://github.com/wandertoken/wander

The owner of the project has not chosen a licence yet. Until then nobody but the
owner may copy or change it. README.md lists the licences of the libraries in it.
`

func (r *release) content(source, name string, mode fs.FileMode, kind string) *files.Content {
	return &files.Content{
		Source: source, Destination: "/" + name, Type: kind,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.date},
	}
}
