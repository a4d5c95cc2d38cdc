package shard

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// Program identifies the program that runs: the hash of its file. Two programs of one version may differ, as those of two kinds
// of processors do, on which arithmetic differs in the last bits.
func Program() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
