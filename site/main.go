package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "", "serve the site on this `ADDRESS` afterwards, for example 127.0.0.1:8000")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./site [-listen ADDRESS] FOLDER\n\nBuild the site into a folder. Run it in the folder of the repository.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(64)
	}
	if err := run(flag.Arg(0), *listen); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// headTimeout bounds how long the server waits for the head of a request.
const headTimeout = 10 * time.Second

func run(folder, listen string) error {
	made, err := Build(".", folder)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d pages, %d files beside them, %d sections to search in\n", folder, made.Pages, made.Files, made.Sections)
	if listen == "" {
		return nil
	}
	fmt.Printf("serving it on http://%s/ until you press ctrl-c\n", listen)
	server := &http.Server{Addr: listen, Handler: http.FileServer(http.Dir(folder)), ReadHeaderTimeout: headTimeout}
	return server.ListenAndServe()
}
