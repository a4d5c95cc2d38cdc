package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// situation is one thing to be measured, with the goal for it.
type situation struct {
	delay    time.Duration // one way
	preOffer bool
	goal     float64 // in round trips
}

var situations = []situation{
	{50 * time.Millisecond, false, 1.55},
	{50 * time.Millisecond, true, 0.55},
	{5 * time.Millisecond, false, 1.8},
	{5 * time.Millisecond, true, 0.7},
}

// latencies is a measurement of how long it takes from the release of a token
// to the grant at the next member, where a program waits for it. Both members
// are volatile, and in this process, so that one clock tells both times.
type latencies struct {
	progress         io.Writer
	rounds, handoffs int
	preset           string // of the policy wandering
}

// flags are the settings on the command line.
func (l *latencies) flags(f *flag.FlagSet) {
	f.IntVar(&l.rounds, "rounds", 5, "how often each thing is measured")
	f.IntVar(&l.handoffs, "handoffs", 20, "how many handoffs in a round")
	f.StringVar(&l.preset, "preset", wandering.Paper, "preset of the policy wandering")
}

func (l *latencies) run(out io.Writer) error {
	if l.rounds < 1 || l.handoffs < 1 {
		return errors.New("nothing to measure")
	}
	spans, trips := make([][]float64, len(situations)), make([][]float64, len(situations))
	for round := range l.rounds {
		for i, s := range situations {
			trip, err := s.roundTrip()
			if err != nil {
				return err
			}
			took, err := l.measure(s)
			if err != nil {
				return fmt.Errorf("%v one way: %w", s.delay, err)
			}
			fmt.Fprintf(l.progress, "round %d/%d  %v one way  pre-offer %-5v  %.1f ms\n", round+1, l.rounds, s.delay, s.preOffer, median(took)*1e3)
			spans[i], trips[i] = append(spans[i], took...), append(trips[i], trip...)
		}
	}
	fmt.Fprintln(out, "| one way | bare datagram, there and back | pre-offered | release to enabled | in RTT | goal |")
	fmt.Fprintln(out, "| ---: | ---: | --- | ---: | ---: | ---: |")
	for i, s := range situations {
		span := median(spans[i])
		fmt.Fprintf(out, "| %v | %.2f ms | %v | %.2f ms | %.2f | %.2f |\n", s.delay, median(trips[i])*1e3,
			s.preOffer, span*1e3, span/(2*s.delay).Seconds(), s.goal)
	}
	return nil
}

// path is the way between the members.
func (s situation) path() relay.Path { return relay.Path{Delay: s.delay} }

// roundTrip measures, in seconds, what a bare datagram takes there and back
// through a relay: the relay's timers are late, too.
func (s situation) roundTrip() ([]float64, error) {
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	go func() {
		buf := make([]byte, 1)
		for {
			_, from, err := server.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = server.WriteToUDPAddrPort(buf, from)
		}
	}()
	r, err := relay.New(server.LocalAddr().(*net.UDPAddr).AddrPort(), s.path(), 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	client, err := net.Dial("udp", r.Address())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var trips []float64
	for range 5 {
		began := time.Now()
		if _, err := client.Write([]byte{0}); err != nil {
			return nil, err
		}
		if _, err := client.Read([]byte{0}); err != nil {
			return nil, err
		}
		trips = append(trips, time.Since(began).Seconds())
	}
	return trips, nil
}

// measure lets the token go back and forth, and returns the seconds from each
// release to the next grant.
func (l *latencies) measure(s situation) ([]float64, error) {
	dir, err := os.MkdirTemp("", "wander-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := makeGroup(dir, names[:], l.resource()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	visits := make(chan visit, 2)
	var bootstrap []string
	for i, name := range names {
		n, address, err := s.open(ctx, filepath.Join(dir, name), bootstrap, i == len(names)-1)
		if err != nil {
			cancel()
			return nil, err
		}
		defer n.Close(ctx)
		bootstrap = []string{address}
		go func() {
			for ctx.Err() == nil {
				v := s.visit(ctx, n)
				select {
				case visits <- v:
				case <-ctx.Done():
				}
			}
		}()
	}
	defer cancel()
	return l.follow(visits)
}

// resource is one token's, with the parameters of fastest that its preset uses.
func (l *latencies) resource() group.Resource {
	r := fastest(1)
	r.Policy, r.Params.Preset = catalog.Wandering, l.preset
	for _, p := range catalog.Presets(catalog.Wandering) {
		if p.Name != l.preset {
			continue
		}
		for name, clear := range map[string]func(){
			"min_interval":      func() { r.Params.MinInterval = 0 },
			"regeneration_mean": func() { r.Params.RegenerationMean = 0 },
		} {
			if !slices.Contains(p.Uses, name) {
				clear()
			}
		}
	}
	return r
}

// open opens a node behind a relay of its own, which ends with the context.
func (s situation) open(ctx context.Context, dir string, bootstrap []string, found bool) (*node.Node, string, error) {
	id, err := identity(dir)
	if err != nil {
		return nil, "", err
	}
	listen, err := freePort()
	if err != nil {
		return nil, "", err
	}
	r, err := relay.New(listen, s.path(), 0)
	if err != nil {
		return nil, "", err
	}
	context.AfterFunc(ctx, r.Close)
	n, err := node.Open(ctx, node.Config{
		Identity: id, StateDir: filepath.Join(dir, "state"), Listen: listen.String(),
		Advertise: []string{r.Address()}, Bootstrap: bootstrap, Mode: store.Volatile, Socket: "-",
		Found: found, NoPreOffer: !s.preOffer,
	})
	return n, r.Address(), err
}

// freePort is a UDP port that nobody listens on.
func freePort() (netip.AddrPort, error) {
	c, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return netip.AddrPort{}, err
	}
	return c.LocalAddr().(*net.UDPAddr).AddrPort(), c.Close()
}

// visit is one stay of the token with a member.
type visit struct {
	hop                uint64
	granted, releasing time.Time
	err                error
}

// stay is how long a member keeps the token, in delays one way: `fair` reads and
// confirms who waits longest before it offers the token, two round trips more.
const stay = 12

// visit waits for the token, keeps it for long enough that a member that
// accepts beforehand has done so, and releases it.
func (s situation) visit(ctx context.Context, n *node.Node) visit {
	g, err := n.Acquire(ctx, api.AcquireRequest{Resource: resource})
	if err != nil {
		return visit{err: err}
	}
	v := visit{hop: g.Grant().Hop, granted: time.Now()}
	time.Sleep(stay * s.delay)
	v.releasing = time.Now()
	g.Release(true, 0)
	return v
}

// warmUps is how many handoffs do not count: until the members have met.
const warmUps = 4

func (l *latencies) follow(visits <-chan visit) ([]float64, error) {
	var took []float64
	var last visit
	for i := 0; len(took) < l.handoffs; i++ {
		v := <-visits
		if v.err != nil {
			return nil, v.err
		}
		if i > warmUps && v.hop == last.hop+1 {
			took = append(took, v.granted.Sub(last.releasing).Seconds())
		}
		last = v
	}
	return took, nil
}
