package main

import "io/fs"

func isExecutable(fs.FileInfo) bool { return true }

// isOurs trusts the file: this system's access lists are not read.
func isOurs(fs.FileInfo) bool { return true }
