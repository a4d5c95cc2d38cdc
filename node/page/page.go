package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"path"
	"strconv"

	"github.com/wandertoken/wander/docs"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/history"
)

// Source is the member that a page shows.
type Source interface {
	Status() api.Status
	Members() []api.MemberInfo
	// History is what this member has seen and heard of late.
	History() *history.Log
}

// Page serves the page of one member. It is safe for concurrent use.
type Page struct {
	feed      feed
	listeners chan struct{} // one element for each open stream
	help      []byte
}

// New returns the page of a source.
func New(source Source) *Page {
	help, err := json.Marshal(sections(docs.Troubleshooting))
	if err != nil {
		panic(err) // strings
	}
	return &Page{feed: feed{source: source, now: boottime.Now}, listeners: make(chan struct{}, maxListeners), help: help}
}

//go:embed assets
var embedded embed.FS

// assets are the files of the page, by their paths.
var assets = func() map[string]asset {
	list := make(map[string]asset)
	for _, name := range []string{"index.html", "page.css", "page.js", "chart.js", "icon.svg"} {
		text, err := fs.ReadFile(embedded, "assets/"+name)
		if err != nil {
			panic(err) // it is embedded
		}
		list[Prefix+name] = asset{kinds[path.Ext(name)], text}
	}
	list["/"] = list[Prefix+"index.html"]
	delete(list, Prefix+"index.html")
	return list
}()

// Prefix is before the path of everything but the page itself, which is at "/".
const Prefix = "/page/"

type asset struct {
	kind string
	text []byte
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Handler answers the requests for the page: "/", and all below Prefix.
func (p *Page) Handler() http.Handler {
	return guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case Prefix + "events":
			p.events(w, r)
		case Prefix + "help.json":
			send(w, asset{"application/json", p.help})
		default:
			a, ok := assets[r.URL.Path]
			if !ok {
				http.Error(w, "there is no such page", http.StatusNotFound)
				return
			}
			send(w, a)
		}
	}))
}

func send(w http.ResponseWriter, a asset) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.text)))
	_, _ = w.Write(a.text) // a reader that has gone misses nothing; to HEAD nothing is written
}
