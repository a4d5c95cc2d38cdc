package cli

import (
	"fmt"
	"os"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/group"
)

// LoadGroup reads a group file.
func LoadGroup(name string) (*group.Group, error) {
	g, _, err := ReadGroup(name)
	return g, err
}

// ReadGroup reads a group file with what else it holds.
func ReadGroup(name string) (*group.Group, group.Extra, error) {
	text, err := ReadSmall(name, keyfile.MaxText)
	if err != nil {
		return nil, group.Extra{}, err
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return nil, group.Extra{}, fmt.Errorf("%s: %w", name, err)
	}
	g, extra, err := group.Load(blocks)
	if err != nil {
		return nil, group.Extra{}, fmt.Errorf("%s: %w", name, err)
	}
	return g, extra, nil
}

// ReadSmall reads a file that has at most so many bytes.
func ReadSmall(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
	}
	return os.ReadFile(name)
}
