package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is neither root nor anybody of the host. A folder that is mounted for the state has to be this user's.
const imageUser = 65532

// health is how often an engine that knows of it asks the daemon whether it is well.
var health = v1.HealthConfig{Test: []string{"CMD", "/usr/bin/wander", "status", "--check"}, Interval: 30 * time.Second, Timeout: 15 * time.Second, StartPeriod: 30 * time.Second, Retries: 3}

// writeImage writes an image with the program and nothing else, for each processor of Linux, as an archive of an OCI layout.
func (r *release) writeImage(context.Context) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	some := false
	for _, t := range r.targets {
		if t.system != "linux" {
			continue
		}
		image, err := r.imageFor(t)
		if err != nil {
			return fmt.Errorf("image for %v: %w", t, err)
		}
		some = true
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: t.system, Architecture: t.processor}},
		})
	}
	if !some {
		return nil
	}
	dir := filepath.Join(r.scratch, "image")
	l, err := layout.Write(dir, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "wander:" + r.version})); err != nil {
		return err
	}
	files, err := readFolder(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := tarred(&b, files, r.date, ""); err != nil {
		return err
	}
	return r.put(r.named("image.tar"), b.Bytes())
}

func readFolder(dir string) (list []file, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		list = append(list, file{filepath.ToSlash(name), data, 0o644})
		return err
	})
	return list, err
}

func (r *release) imageFor(t target) (v1.Image, error) {
	content, err := r.layer(t)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.ConfigFile(image, r.imageConfig(t)); err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "wander release"},
	})
}

func (r *release) imageConfig(t target) *v1.ConfigFile {
	return &v1.ConfigFile{
		OS: t.system, Architecture: t.processor, Created: v1.Time{Time: r.date}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", imageUser, imageUser), WorkingDir: "/", Healthcheck: &health,
			Entrypoint: []string{"/usr/bin/wander"}, Cmd: []string{"node"}, Env: []string{"PATH=/usr/bin"},
			ExposedPorts: map[string]struct{}{"4133/udp": {}}, Volumes: map[string]struct{}{"/etc/wander": {}, "/var/lib/wander": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title": "wander", "org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
				"org.opencontainers.image.source":  "https://github.com/wandertoken/wander",
				"org.opencontainers.image.created": r.date.Format(time.RFC3339),
			},
		},
	}
}

// layer is the file system: the program, and the folders that its user owns.
func (r *release) layer(t target) ([]byte, error) {
	program, err := os.ReadFile(r.programs[t])
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = tarred(&b, []file{
		{"etc/group", fmt.Appendf(nil, "root:x:0:\nwander:x:%d:\n", imageUser), 0o644},
		{"etc/passwd", fmt.Appendf(nil, "root:x:0:0:root:/:/none\nwander:x:%[1]d:%[1]d:wander:/var/lib/wander:/none\n", imageUser), 0o644},
		{"usr/bin/wander", program, 0o755},
		{"etc/wander/", nil, 0o755}, {"run/wander/", nil, 0o755}, {"tmp/", nil, 0o777}, {"var/lib/wander/", nil, 0o700},
	}, r.date, "")
	return b.Bytes(), err
}
