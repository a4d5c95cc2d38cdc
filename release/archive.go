package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

// archive writes one archive for each target: everything in a folder of the archive's name.
func (r *release) archive(context.Context) error {
	for _, t := range r.targets {
		name := r.named("%s_%s", t.system, t.processor)
		files, err := r.archived(t)
		if err != nil {
			return err
		}
		write, end := tarGzip, ".tar.gz"
		if t.system == "windows" {
			write, end = zipped, ".zip"
		}
		var b bytes.Buffer
		if err := write(&b, name, files, r.date); err != nil {
			return fmt.Errorf("%s: %w", name+end, err)
		}
		if err := r.put(name+end, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// archived are the files of an archive.
func (r *release) archived(t target) ([]file, error) {
	program, err := os.ReadFile(r.programs[t])
	if err != nil {
		return nil, err
	}
	files := []file{{t.program(), program, 0o755}}
	for _, f := range r.manual {
		files = append(files, file{"man/" + f.name, f.data, f.mode})
	}
	for _, f := range r.completions {
		files = append(files, file{"completions/" + f.name, f.data, f.mode})
	}
	files = append(files, r.documents...)
	if t.system == "linux" {
		units, err := r.units()
		if err != nil {
			return nil, err
		}
		for _, f := range units {
			files = append(files, file{"systemd/" + f.name, f.data, f.mode})
		}
	}
	return files, nil
}

func tarGzip(w io.Writer, folder string, files []file, date time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := tarred(z, files, date, folder); err != nil {
		return err
	}
	return z.Close()
}

// tarred writes files that belong to root, with their folders before them. A name that ends in a slash is a folder of the image's user.
func tarred(w io.Writer, files []file, date time.Time, folder string) error {
	t := tar.NewWriter(w)
	known := map[string]bool{".": true}
	for _, f := range files {
		name := path.Join(folder, f.name)
		if err := folders(t, path.Dir(name), known, date); err != nil {
			return err
		}
		h := &tar.Header{Name: name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: date, Format: tar.FormatPAX}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag, h.Name, h.Uid, h.Gid = tar.TypeDir, name+"/", imageUser, imageUser
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}

func folders(t *tar.Writer, dir string, known map[string]bool, date time.Time) error {
	if known[dir] {
		return nil
	}
	known[dir] = true
	if err := folders(t, path.Dir(dir), known, date); err != nil {
		return err
	}
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: date, Format: tar.FormatPAX})
}

func zipped(w io.Writer, folder string, files []file, date time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: date}
		if strings.HasSuffix(f.name, ".gz") {
			h.Method = zip.Store
		}
		h.SetMode(f.mode)
		in, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := in.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}
