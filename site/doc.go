// Command site builds the documentation as a web site, into a folder:
//
//	go run ./site FOLDER
//	go run ./site -listen 127.0.0.1:8000 FOLDER
//
// The second command also serves it there. The site is static files: the pages of this repository, a front page with the simulator of
// `wander plan` as WebAssembly, and an index for the search. It asks no other host for anything.
//
// # Who calls it
//
// A person who publishes the documentation, and the tests of this package. docs/site.md is for that person.
//
// # The types
//
//	section   a part of the navigation, with its entries: the one list of all pages (sections in pages.go)
//	page      one Markdown file as HTML, with the names of its headings, its links, and its passages for the search
//	builder   one build: reads all pages, checks their links, writes the files
//	view      what the layouts in assets/ show of a page
//	found     a passage in the index of the search
//
// # The walk of one build
//
//	Build         refuses a folder with foreign files in it
//	 ├ outline    refuses a page that is missing from the list of sections, or listed twice (pages.go)
//	 ├ read       one page: Markdown to HTML, its headings, links and words (markdown.go)
//	 ├ check      refuses a link to nothing, inside the page, to another page, to a file
//	 ├ write      the pages, what they link to, the index
//	 └ compile    the simulator (package simulator below), with the Go command
//
// Everything is written into a folder beside, which takes the place of the one that was asked for when all is there.
//
// # Invariants
//
// Every page of docs/ and spec/ is on the site once. Every link inside the site leads somewhere, to the very heading. No page has a script
// or style of its own, so that the Content-Security-Policy permits files of the site alone. All but the search and the simulator works
// without JavaScript.
//
// # What it does not do
//
// It knows the Markdown that the pages use, and refuses HTML but for comments and line breaks. It does not look whether links to other hosts lead
// somewhere, as a build asks none. It has no templates for others to change: assets/ is what the site looks like.
package main
