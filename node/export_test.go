package node

import (
	"time"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/transport"
)

// SetFS puts a file system under the journal.
func (c *Config) SetFS(fs store.FS) { c.seams.journal.FS = fs }

// SetClock replaces the wall clock.
func (c *Config) SetClock(wall func() time.Time) { c.seams.wall = wall }

// SetHandler puts something between the transport and the node.
func (c *Config) SetHandler(wrap func(transport.Handler) transport.Handler) { c.seams.handler = wrap }
