// Command simulator is the circulation simulator of the site's front page, as WebAssembly. It is sim/plan, which `wander plan` calls, with
// functions for a web worker around it (site/assets/worker.js). The site's builder compiles it:
//
//	GOOS=js GOARCH=wasm go build -trimpath -ldflags '-s -w' ./site/simulator
//
// Equal choices give the numbers of `wander plan`, to the last digit: form is the one place that reads them, and the page shows the
// command line that gives the same. TestFrontPage_Numbers_EqualThePlans compares.
package main
