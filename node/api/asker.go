package api

import (
	"cmp"
	"context"
	"net"
	"os"
	"slices"
	"sync"
)

// Asker is a process that has connected to the socket, as the system knew it at that moment.
type Asker struct {
	User    uint32 `json:"user"`
	Group   uint32 `json:"group"`   // its primary one
	Process int32  `json:"process"` // 0: in another namespace of processes
}

// askerKey is where the context of a request has its Asker.
type askerKey struct{}

// askerOf is who sent a request; nil if the system does not tell.
func askerOf(ctx context.Context) *Asker {
	a, _ := ctx.Value(askerKey{}).(*Asker)
	return a
}

// isOwner reports whether a is the daemon's own user or the superuser. Where the system does not tell, nobody else can connect.
func (a *Asker) isOwner() bool { return a == nil || a.User == 0 || int(a.User) == os.Geteuid() }

// counter counts what the users other than the owner have at once.
type counter struct {
	mu     sync.Mutex
	of     map[uint32]int // the owner's, too
	others int            // of all users but the owner
}

// add counts one thing of a user, unless the user has most already, or all users but the owner together have mostOthers.
func (c *counter) add(a *Asker, most, mostOthers int) bool {
	if a == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !a.isOwner() {
		if c.of[a.User] >= most || c.others >= mostOthers {
			return false
		}
		c.others++
	}
	if c.of == nil {
		c.of = make(map[uint32]int)
	}
	c.of[a.User]++
	return true
}

func (c *counter) remove(a *Asker) {
	if a == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !a.isOwner() {
		c.others--
	}
	if c.of[a.User]--; c.of[a.User] == 0 {
		delete(c.of, a.User)
	}
}

// list is how much each user has.
func (c *counter) list() []UserStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]UserStatus, 0, len(c.of))
	for user, n := range c.of {
		list = append(list, UserStatus{user, n})
	}
	slices.SortFunc(list, func(x, y UserStatus) int { return cmp.Compare(x.User, y.User) })
	return list
}

// guarded is the socket of a daemon that knows who connects. A user who has MaxUserConnections of them gets no more, nor do all but
// the owner together get more than MaxUsersConnections.
type guarded struct {
	net.Listener
	open counter
}

// Accept returns the next connection of a user who has not too many.
func (g *guarded) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		local, ok := conn.(*net.UnixConn)
		if !ok { // only tests listen on anything else
			return conn, nil
		}
		asker := peerOf(local)
		if g.open.add(asker, MaxUserConnections, MaxUsersConnections) {
			return &asking{UnixConn: local, asker: asker, open: &g.open}, nil
		}
		conn.Close()
	}
}

// asking is a connection whose other end is known.
type asking struct {
	*net.UnixConn
	asker *Asker
	open  *counter
	once  sync.Once
}

// Close ends the connection.
func (c *asking) Close() error {
	c.once.Do(func() { c.open.remove(c.asker) })
	return c.UnixConn.Close()
}

// withAsker puts the process at the other end of a connection into the context of its requests.
func withAsker(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*asking); ok {
		return context.WithValue(ctx, askerKey{}, c.asker)
	}
	return ctx
}
