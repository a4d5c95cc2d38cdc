package wander

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/ident"
)

// DefaultSocket is where a daemon listens that a package has installed.
const DefaultSocket = "/var/lib/wander/" + api.SocketName

const (
	socketVariable = "WANDER_SOCKET"
	heldVariable   = "WANDER_HELD"
)

// Client asks the daemon of this machine. It holds no connection between two calls.
type Client struct {
	member asked
	held   []ident.Grant // what this process runs under itself
	err    error         // of heldVariable
}

// Member is a member of the group that runs in this process: a *node.Node, or one of package wandertest.
type Member interface {
	Acquire(context.Context, api.AcquireRequest) (api.HeldGrant, error)
}

// Dial returns a client of the daemon behind a Unix socket. The empty path stands for $WANDER_SOCKET, which `wander run` sets, or else
// [DefaultSocket]. Dial does not connect: the first call does.
func Dial(socket string) *Client {
	c := &Client{member: daemon{api.Dial(cmp.Or(socket, os.Getenv(socketVariable), DefaultSocket))}}
	if c.held, c.err = api.ParseHeld(os.Getenv(heldVariable)); c.err != nil {
		c.err = fmt.Errorf("%w: %s: %w", ErrEnvironment, heldVariable, c.err)
	}
	return c
}

// Of returns a client of a member that runs in this process. Its programs cannot outlive the member.
func Of(m Member) *Client { return &Client{member: local{m}} }

// Do runs use while this machine holds a resource, and gives the resource back. It waits for the resource as [Client.Acquire] does. The context of
// use is cancelled before the grant's deadline, when the grant is lost, and when ctx is; [context.Cause] tells which. Do returns when use
// has returned, and never before. The error is that of use. If use has none, it is that of a loss, of a deadline that has passed while use ran, or
// of a release that the daemon did not confirm (the grant ends at its deadline then).
func (c *Client) Do(ctx context.Context, resource string, use func(context.Context, Grant) error, options ...Option) error {
	h, err := c.Acquire(ctx, resource, options...)
	if err != nil {
		return err
	}
	defer h.Release() // if use panics: it is released below otherwise
	within, end := h.within(ctx)
	h.from = boottime.Now()
	err = use(within, h.grant)
	h.to = boottime.Now()
	return cmp.Or(err, end(), h.Release())
}

// Acquire waits until this machine holds a resource, for as long as [Wait] says, and otherwise until ctx ends. Then it returns the cause of
// ctx ([context.Cause]). The caller has to release what it holds.
func (c *Client) Acquire(ctx context.Context, resource string, options ...Option) (*Held, error) {
	if c.err != nil {
		return nil, c.err
	}
	o := settle(options)
	request := api.AcquireRequest{
		Resource: resource, MaxHoldMS: api.Millis(o.maxHold), MinHoldMS: api.Millis(o.minHold), OncePerMS: api.Millis(o.oncePer),
		Label: o.label, PID: os.Getpid(), Held: c.held,
	}
	if o.waits {
		ms := api.Millis(max(0, o.wait))
		request.WaitMS = &ms
	}
	if err := request.Validate(); err != nil {
		return nil, err
	}
	g, err := c.member.acquire(ctx, request)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", resource, err)
		}
		return nil, err
	}
	return hold(g, o.margin), nil
}

// TryAcquire is Acquire that does not wait: the error is [ErrNotGranted] unless a token is here that nobody uses.
func (c *Client) TryAcquire(ctx context.Context, resource string, options ...Option) (*Held, error) {
	return c.Acquire(ctx, resource, append(options[:len(options):len(options)], Wait(0))...)
}

// Hint is what an operator can do about an error of this package, in one line, or empty.
func Hint(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Option changes how a resource is acquired.
type Option func(*settings)

type settings struct {
	wait, maxHold, minHold, oncePer time.Duration
	waits                           bool // for wait, and not without end
	margin                          func(length time.Duration) time.Duration
	label                           string
}

func settle(options []Option) *settings {
	o := &settings{margin: defaultMargin}
	for _, set := range options {
		set(o)
	}
	return o
}

// Wait bounds how long to wait for the resource: then the error is [ErrNotGranted]. 0 is now or never. Without it the wait ends with its context.
func Wait(d time.Duration) Option { return func(o *settings) { o.wait, o.waits = d, true } }

// MaxHold asks for a shorter grant than the group's configuration permits.
func MaxHold(d time.Duration) Option { return func(o *settings) { o.maxHold = d } }

// MinHold keeps the token at this machine for so long after the grant even if the release comes earlier, as for a resource that needs a rest.
func MinHold(d time.Duration) Option { return func(o *settings) { o.minHold = d } }

// OncePer asks for a grant only if the resource's operation has not run for so long anywhere in the group. Otherwise the error is [ErrNotDue]. A
// job that all machines start each night, with OncePer(20*time.Hour), runs once.
func OncePer(d time.Duration) Option { return func(o *settings) { o.oncePer = d } }

// Margin is how long before the deadline the holder's context is cancelled. Without it, it is a twentieth of the grant, and at most 5 s.
func Margin(d time.Duration) Option {
	return func(o *settings) { o.margin = func(time.Duration) time.Duration { return d } }
}

// Label names the program to people: `wander status` shows it. A label of more than [MaxLabel] bytes is cut.
func Label(s string) Option {
	return func(o *settings) {
		o.label = strings.ToValidUTF8(s[:min(len(s), MaxLabel)], "")
	}
}

// MaxLabel bounds a label: it is for a line of a status.
const MaxLabel = api.MaxLabel

const (
	marginShare = 20              // of a grant is the margin that is not asked for
	maxMargin   = 5 * time.Second // of a long one: most programs stop within seconds
)

func defaultMargin(length time.Duration) time.Duration { return min(length/marginShare, maxMargin) }
