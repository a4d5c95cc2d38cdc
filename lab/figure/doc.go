// Package figure draws the figures of experiments as SVG and PNG.
//
// The same plot gives the same bytes whenever and wherever it is drawn: no
// fonts are looked up, no time is written.
package figure
