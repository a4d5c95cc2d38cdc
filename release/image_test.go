package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type descriptor struct{ MediaType, Digest string }

// runImage does with the image what an engine does: it follows the digests, unpacks the layer, and runs the entry point as the image's user, with runc.
func runImage(t *testing.T, dir string, made map[string][]byte) {
	t.Helper()
	blobs := make(map[string][]byte)
	for name, data := range made {
		if strings.HasSuffix(name, "_image.tar") {
			unpacked(t, data, func(h *tar.Header, content []byte) { blobs[h.Name] = content })
		}
	}
	read := func(name string, v any) {
		name = strings.Replace(name, "sha256:", "blobs/sha256/", 1)
		require.NoError(t, json.Unmarshal(blobs[name], v), name)
	}
	var index struct{ Manifests []descriptor }
	read("index.json", &index)
	require.Len(t, index.Manifests, 1)
	read(index.Manifests[0].Digest, &index)
	require.Len(t, index.Manifests, 1)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(index.Manifests[0].Digest, &manifest)
	var config struct {
		Config struct {
			User            string
			Entrypoint, Cmd []string
			Healthcheck     struct {
				Probe []string `json:"Test"`
			}
		}
	}
	read(manifest.Config.Digest, &config)
	assert.Equal(t, "65532:65532", config.Config.User)
	assert.Equal(t, []string{"node"}, config.Config.Cmd)
	assert.Equal(t, []string{"CMD", "/usr/bin/wander", "status", "--check"}, config.Config.Healthcheck.Probe)
	require.Len(t, manifest.Layers, 1)
	root := filepath.Join(dir, "bundle", "rootfs")
	layer, err := gzip.NewReader(bytes.NewReader(blobs[strings.Replace(manifest.Layers[0].Digest, "sha256:", "blobs/sha256/", 1)]))
	require.NoError(t, err)
	plain, err := io.ReadAll(layer)
	require.NoError(t, err)
	unpacked(t, plain, func(h *tar.Header, content []byte) {
		path := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			return
		}
		require.NoError(t, os.WriteFile(path, content, os.FileMode(h.Mode)))
	})
	if _, err := exec.LookPath("runc"); err != nil || os.Geteuid() != 0 {
		t.Log("no runc here, or not root: the entry point is not run")
		return
	}
	out, err := inContainer(t, filepath.Join(dir, "bundle"), append(config.Config.Entrypoint, "version"))
	require.NoError(t, err, "%s", out)
	assert.Regexp(t, `^wander [0-9].*, commit [0-9a-f]{40} of 20`, out)
	out, err = inContainer(t, filepath.Join(dir, "bundle"), append(config.Config.Entrypoint, config.Config.Cmd...))
	require.Error(t, err, "a member without an identity")
	assert.Contains(t, out, "wander join", out)
}

func unpacked(t *testing.T, data []byte, each func(*tar.Header, []byte)) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		each(h, content)
	}
}

// inContainer runs a program with runc, read-only and without rights.
func inContainer(t *testing.T, bundle string, args []string) (string, error) {
	t.Helper()
	type kind struct {
		Type string `json:"type"`
	}
	config, err := json.Marshal(map[string]any{
		"ociVersion": "1.0.2", "root": map[string]any{"path": "rootfs", "readonly": true},
		"mounts": []map[string]any{{"destination": "/proc", "type": "proc", "source": "proc"}},
		"process": map[string]any{
			"user": map[string]int{"uid": imageUser, "gid": imageUser}, "cwd": "/", "args": args, "env": []string{"PATH=/usr/bin"}, "noNewPrivileges": true,
		},
		"linux": map[string]any{"namespaces": []kind{{"pid"}, {"mount"}, {"ipc"}, {"uts"}, {"network"}}},
	})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(bundle, "rootfs", "proc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bundle, "config.json"), config, 0o600))
	out, err := exec.Command("runc", "run", "--bundle", bundle, "wander-release-"+filepath.Base(t.TempDir())+args[len(args)-1]).CombinedOutput()
	if strings.Contains(string(out), "runc run failed") {
		t.Skipf("runc runs no container on this machine: %s", out)
	}
	return string(out), err
}
