//go:build !js

package main

import (
	"fmt"
	"os"
)

// main says what this program is for, where it is built for another system.
func main() {
	fmt.Fprintln(os.Stderr, "this program runs in a browser: go run ./site FOLDER builds the site that has it")
	os.Exit(64)
}
