package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// buildFlags make a small program that has nothing of this machine in it; CONTRIBUTING.md says why each is there.
var buildFlags = []string{
	"-trimpath", "-buildvcs=true", "-tags=nethttpomithttp2",
	"-gcflags=google.golang.org/protobuf/...=-l", "-gcflags=github.com/prometheus/...=-l", "-gcflags=github.com/pelletier/...=-l",
	"-gcflags=github.com/spf13/...=-l", "-gcflags=github.com/wandertoken/wander/cmd/...=-l",
}

const versionVariable = "github.com/wandertoken/wander/internal/version.release"

// build builds the program for each target.
func (r *release) build(ctx context.Context) error {
	for _, t := range r.targets {
		path := filepath.Join(r.scratch, t.system+"-"+t.processor, t.program())
		if err := r.buildFor(ctx, t, path); err != nil {
			return err
		}
		r.programs[t] = path
	}
	return nil
}

func (r *release) buildFor(ctx context.Context, t target, path string) error {
	args := append([]string{"build"}, buildFlags...)
	args = append(args, "-ldflags=-s -w -buildid= -X "+versionVariable+"="+r.version, "-o", path, "./cmd/wander")
	c := command(ctx, r.dir, "go", args...)
	c.Env = append(c.Env, "GOOS="+t.system, "GOARCH="+t.processor, "GOAMD64=v1", "GOARM64=v8.0")
	_, err := output(c)
	return err
}

// host is the program for the machine that this runs on, which may be none of the targets.
func (r *release) host(ctx context.Context) (string, error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	if path, is := r.programs[here]; is {
		return path, nil
	}
	path := filepath.Join(r.scratch, "host", here.program())
	return path, r.buildFor(ctx, here, path)
}

// writeManual writes a page for each command.
func (r *release) writeManual(ctx context.Context) error {
	dir := filepath.Join(r.scratch, "man")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	c := command(ctx, r.dir, "go", "run", "-trimpath", "-tags=manual", "-ldflags=-X "+versionVariable+"="+r.version, "./cmd/wander", dir)
	c.Env = append(c.Env, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.date.Unix()))
	if _, err := output(c); err != nil {
		return err
	}
	pages, err := os.ReadDir(dir) // sorted
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(dir, page.Name()))
		if err != nil {
			return err
		}
		f := file{page.Name() + ".gz", compressed(text), 0o644}
		r.manual = append(r.manual, f)
		if err := r.put("man/"+f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// compressed is a text as gzip writes it when it knows neither name nor time.
func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is right
	}
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// completionFiles are the names under which shells look for the completions of a command.
var completionFiles = map[string]string{"bash": "wander", "fish": "wander.fish", "zsh": "_wander"}

// writeCompletions asks the program for its completions.
func (r *release) writeCompletions(ctx context.Context) error {
	program, err := r.host(ctx)
	if err != nil {
		return err
	}
	for _, shell := range []string{"bash", "fish", "zsh"} {
		text, err := output(command(ctx, r.scratch, program, "completion", shell))
		if err != nil {
			return err
		}
		f := file{shell + "/" + completionFiles[shell], []byte(text + "\n"), 0o644}
		r.completions = append(r.completions, f)
		if err := r.put("completions/"+f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// documentPaths are what people get to read, and examples: files and folders of the repository. The figures and raw results of experiments
// stay there.
var documentPaths = []string{
	"README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "docs/img", "release/prometheus", "release/grafana", "release/kubernetes", "release/ansible",
	"release/systemd/wander@.service", "release/systemd/wander@.timer",
}

// readDocuments reads the documents and examples that the commit has.
func (r *release) readDocuments(ctx context.Context) error {
	list, err := r.git(ctx, append([]string{"ls-files", "--"}, documentPaths...)...)
	if err != nil {
		return err
	}
	for _, path := range strings.Fields(list) {
		data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		name := path
		if example, is := strings.CutPrefix(path, "release/"); is {
			name = "examples/" + example
		}
		r.documents = append(r.documents, file{name, data, 0o644})
	}
	licences, err := readLicences(filepath.Join(r.dir, "README.md"))
	r.licences = licences
	return err
}
