// Command release makes everything that a release of wander consists of, into a folder:
//
//	go -C release run . /tmp/release
//
//	wander_VERSION_SYSTEM_PROCESSOR.tar.gz   the program with its manual, completions, documents and examples (.zip for Windows)
//	wander_VERSION_PROCESSOR.deb, .rpm       packages for Linux
//	wander_VERSION_image.tar                 an image of a container (OCI layout), for each processor of Linux
//	wander_VERSION_SYSTEM_PROCESSOR.cdx.json what the program is made of (CycloneDX)
//	man/, completions/                       the manual and the completions of bash, fish and zsh alone
//	SHA256SUMS                               of all of them
//
// It releases the commit that is checked out, and refuses a work tree with changes. The time of every file is the commit's, and
// nothing else of this machine gets into a file: whoever releases the commit again, with the same version of Go, gets the same bytes.
//
// It is a module of its own, because what writes packages and images needs more modules than the rest of the project together.
//
// # Who calls it
//
// A maintainer who releases a version, by hand; docs/install.md ("Make a release") has the steps around it. .ci/run makes a release for one system twice, in two
// folders, and compares the bytes. try-deb.sh installs, upgrades and removes the package in a Debian of its own,
// try-reboot.sh restarts three of them one at a time, and machines.sh starts clean ones for a reader; machine.sh is what they have in common.
//
// # The types
//
//	source    a commit: its version, its date, its files
//	target    a system and a processor, such as linux/arm64
//	release   one run: what it has built, and where it puts what it makes
//	file      one file of a package, an archive or an image
//
//	source ──▶ build (the programs, the manual, completions, documents)
//	             ├──▶ archive   tar.gz and zip
//	             ├──▶ pack      deb and rpm, with systemd/ and scripts/
//	             ├──▶ image     OCI layout
//	             └──▶ bill      CycloneDX, from what Go has written into the programs
//	           ──▶ sum          SHA256SUMS
//
// The other folders are files that the packages carry as examples: ansible/, grafana/, kubernetes/, prometheus/.
//
// # What holds
//
//   - No file has a time, an owner or an order that is not the commit's.
//   - A release that fails leaves the folder as far as it came: start it anew in an empty one.
package main
