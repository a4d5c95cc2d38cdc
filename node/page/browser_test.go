package page

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/browser"
)

var update = flag.Bool("update", false, "write the pictures in docs/img")

// serve serves a scene's page on a port of its own, and returns its address.
func (s *scene) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, ended := s.page().NewServer(slog.New(slog.DiscardHandler)), make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx) // streams are cut
		assert.NoError(t, <-ended)
	})
	return "http://" + l.Addr().String() + "/"
}

// pictures are those of docs/page.md.
var pictures = []struct {
	name  string
	scene func() *scene
	view  browser.View
}{
	{"page-five", five, browser.View{Width: 1200, Height: 1000}},
	{"page-five-dark", five, browser.View{Width: 1200, Height: 1000, Dark: true}},
	{"page-sixty", sixty, browser.View{Width: 1200, Height: 1000}},
	{"page-sixty-dark", sixty, browser.View{Width: 1200, Height: 1000, Dark: true}},
	{"page-alone", alone, browser.View{Width: 1200, Height: 900}},
	{"page-alone-dark", alone, browser.View{Width: 1200, Height: 900, Dark: true}},
	{"page-narrow", sixty, browser.View{Width: 390, Height: 1100}},
	{"page-narrow-dark", sixty, browser.View{Width: 390, Height: 1100, Dark: true}},
}

// shown says that a page shows a member.
const shown = "document.querySelectorAll('.card').length > 0 && document.querySelectorAll('#members tbody tr').length > 0 && document.querySelector('details p')"

// maxPicture bounds a picture's bytes: they are in every clone.
const maxPicture = 150_000

// Each picture is taken of a page that has no problems. With -update they are written.
func TestPictures(t *testing.T) {
	b := browser.Start(t)
	for _, p := range pictures {
		tab := b.Open(t, p.scene().serve(t), p.view)
		tab.Until(shown)
		png := tab.Shot()
		assert.LessOrEqual(t, len(png), maxPicture, p.name)
		assert.Empty(t, tab.Problems(), p.name)
		if *update {
			dir := filepath.Join("..", "..", "docs", "img")
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, p.name+".png"), png, 0o644))
		}
	}
}
