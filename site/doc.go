// Command site builds the documentation as a web site, into a folder:
//
//	go run ./site FOLDER
//	go run ./site -listen 127.0.0.1:8000 FOLDER
//
// The second command also serves it there. The site is static files: the pages of this repository, a front page with the simulator of
// `wander plan` as WebAssembly, and an index for the search. It asks no other host for anything.
//
// # The walk of one build
//
//	Build         refuses a folder with foreign files in it
//	 ├ outline    refuses a page that is missing from the list of sections, or listed twice (pages.go)
//	 ├ read       one page: Markdown to HTML, its headings, links and words (markdown.go)
//	 ├ check      refuses a link to nothing, inside the page, to another page, to a file
//	 ├ write      the pages, what they link to, the index
//	 └ compile    the simulator, with the Go command
//
// # Invariants
//
// Every page of docs/ and spec/ is on the site once. Every link inside the site leads somewhere, to the very heading. No page has a script
// or style of its own, so that the Content-Security-Policy permits files of the site alone. All but the search and the simulator works
// without JavaScript.
package main
