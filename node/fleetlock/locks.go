package fleetlock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// wantFor is for how long a resource is waited for since its client has asked last: twice as long as Zincati pauses.
	wantFor = 10 * time.Minute
	// soon is for how long a client waits for an answer: a token that is near comes in that time, and clients give up after more.
	soon = 2 * time.Second
	// maxClients bounds the clients that are known at one time: a machine has one, and a few in tests.
	maxClients = 16
	// maxFile bounds the file of the clients that have something, in bytes: each takes less than 1 kB.
	maxFile = maxClients << 10
)

// fileName is where Locks remember which client has which grant, in the daemon's state folder.
const fileName = "fleetlock.json"

// Resources is what Locks need of a member.
type Resources interface {
	// Known reports whether the group has a resource.
	Known(resource string) bool
	// Acquire waits for a grant that lasts across a restart of the machine, until ctx ends. Error: ErrRefused.
	Acquire(ctx context.Context, resource string) (ident.Grant, error)
	// InForce reports whether a grant is in force.
	InForce(resource string, g ident.Grant) bool
	// Release ends a grant.
	Release(g ident.Grant)
}

// Locks are the resources that clients have or wait for. Make them with New.
type Locks struct {
	resources Resources
	groups    map[string]string
	file      string
	want      time.Duration

	mu      sync.Mutex
	clients map[Client]*lock
}

// lock is what one client has or waits for.
type lock struct {
	resource string
	grant    ident.Grant        // zero: none yet
	cancel   context.CancelFunc // ends the wait
	done     chan struct{}      // closed when the wait has ended
	err      error              // why without a grant
	late     *time.Timer        // ends what its client asks for no more, until it has been told of its grant
	told     bool
}

// entry is a grant as the file has it.
type entry struct {
	ID       string      `json:"id"`
	Group    string      `json:"group"`
	Resource string      `json:"resource"`
	Grant    ident.Grant `json:"grant"`
}

// New returns the locks of a member. Groups give the resource of a client's group, and no other group has one; if there are none, each group has
// the resource of its own name. What clients had before a restart they have again, as far as it is in force.
func New(r Resources, groups map[string]string, stateDir string) (*Locks, error) {
	l := &Locks{resources: r, groups: groups, file: filepath.Join(stateDir, fileName), want: wantFor, clients: make(map[Client]*lock)}
	f, err := os.Open(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	var list []entry
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it, and end what is held with wander release", l.file, err)
	}
	for _, e := range list[:min(len(list), maxClients)] {
		l.clients[Client{e.ID, e.Group}] = &lock{resource: e.Resource, grant: e.Grant, told: true, done: closed()}
	}
	return l, nil
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Lock implements Locker.
func (l *Locks) Lock(ctx context.Context, c Client) error {
	k, err := l.ask(c)
	if err != nil {
		return err
	}
	t := time.NewTimer(soon)
	defer t.Stop()
	select {
	case <-k.done:
	case <-t.C:
		return fmt.Errorf("%w: %s is with another machine, or on its way; ask again", ErrBusy, k.resource)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[c] != k {
		return fmt.Errorf("%w: the wait has ended; ask again", ErrBusy)
	}
	if k.err != nil {
		delete(l.clients, c)
		return k.err
	}
	k.told = true
	k.stop()
	return nil
}

// ask finds what a client waits for or has, and begins to wait if that is nothing.
func (l *Locks) ask(c Client) (*lock, error) {
	resource := l.groups[c.Group]
	if len(l.groups) == 0 {
		resource = c.Group
	}
	if resource == "" || !l.resources.Known(resource) {
		return nil, fmt.Errorf("%w: %s", ErrGroup, c.Group)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep()
	if k := l.clients[c]; k != nil {
		if k.late != nil {
			k.late.Reset(l.want)
		}
		return k, nil
	}
	if len(l.clients) >= maxClients {
		return nil, fmt.Errorf("%w: %d ask already", ErrMany, maxClients)
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := &lock{resource: resource, cancel: cancel, done: make(chan struct{})}
	k.late = time.AfterFunc(l.want, func() { l.forget(c, k) })
	l.clients[c] = k
	go l.wait(ctx, c, k)
	return k, nil
}

// wait waits for the grant of a client.
func (l *Locks) wait(ctx context.Context, c Client, k *lock) {
	g, err := l.resources.Acquire(ctx, k.resource)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(k.done)
	if err == nil && l.clients[c] == k {
		k.grant = g
		if err = l.save(); err == nil {
			return
		}
		k.grant = ident.Grant{}
	}
	if err == nil {
		err = ErrBusy // nobody asks any more
	}
	if g != (ident.Grant{}) {
		l.resources.Release(g)
	}
	k.err = err
}

// sweep forgets the grants that are in force no more.
func (l *Locks) sweep() {
	for c, k := range l.clients {
		if k.grant != (ident.Grant{}) && !l.resources.InForce(k.resource, k.grant) {
			k.stop()
			delete(l.clients, c)
		}
	}
}

func (k *lock) stop() {
	if k.late != nil {
		k.late.Stop()
		k.late = nil
	}
}

// forget ends what a client asks for no more, unless it knows that it has it.
func (l *Locks) forget(c Client, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients[c] == k && !k.told {
		_ = l.end(c, k) // the grant ends at its deadline
	}
}

// end ends what a client has or waits for.
func (l *Locks) end(c Client, k *lock) error {
	k.stop()
	delete(l.clients, c)
	if k.cancel != nil {
		k.cancel()
	}
	if k.grant == (ident.Grant{}) {
		return nil
	}
	l.resources.Release(k.grant)
	return l.save()
}

// Unlock implements Locker.
func (l *Locks) Unlock(c Client) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.clients[c]; k != nil {
		return l.end(c, k)
	}
	return nil
}

// Close ends all waits. What clients have stays.
func (l *Locks) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.clients {
		k.stop()
		if k.cancel != nil {
			k.cancel()
		}
	}
}

// save writes down which client has which grant, so that a crash leaves the list before or the new one.
func (l *Locks) save() error {
	list := []entry{}
	for c, k := range l.clients {
		if k.grant != (ident.Grant{}) {
			list = append(list, entry{c.ID, c.Group, k.resource, k.grant})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return atomicfile.Replace(l.file, text, 0o600)
}
