// Package docs has the pages that programs show.
package docs

import _ "embed" // for Troubleshooting

// Troubleshooting is the page about each cause for which nothing runs.
//
//go:embed troubleshooting.md
var Troubleshooting string
