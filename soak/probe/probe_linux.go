// Package probe is the protected program of a soak run, and the observer of its
// end. The program writes its own start and end to the log; the observer holds
// a connection to it, which the system closes when the program is gone, however
// it went.
package probe

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/record"
)

// aliveEvery is how often a program writes that it still runs: what is not known
// of the end of a killed program.
const aliveEvery = 25 * time.Millisecond

// Order says what one program is to do.
type Order struct {
	Observer string // socket of the observer
	Log      string // file to append to
	Member   string // who runs it
	Takes    time.Duration
	Stubborn bool // ignores SIGTERM
}

// Args are the arguments that make Parse return the order.
func (o Order) Args() []string {
	return []string{o.Observer, o.Log, o.Member, o.Takes.String(), strconv.FormatBool(o.Stubborn)}
}

// ErrArguments is a program that was started with other arguments than those of
// an Order.
var ErrArguments = errors.New("not the arguments of a protected program")

// Parse is the inverse of Order.Args.
func Parse(args []string) (o Order, err error) {
	if len(args) != 5 {
		return o, ErrArguments
	}
	o = Order{Observer: args[0], Log: args[1], Member: args[2]}
	var bad [2]error
	o.Takes, bad[0] = time.ParseDuration(args[3])
	o.Stubborn, bad[1] = strconv.ParseBool(args[4])
	if err := errors.Join(bad[:]...); err != nil {
		return o, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return o, nil
}

// Run is the protected program, from its first act to its last.
func (o Order) Run() error {
	first := boottime.Now()
	if o.Stubborn {
		signal.Ignore(syscall.SIGTERM)
	}
	r, err := o.describe()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	conn, err := net.Dial("unix", o.Observer)
	if err != nil {
		return err
	}
	write := func(kind record.Kind, at clock.Instant) error {
		r.Kind, r.At = kind, at
		line, err := r.Line()
		if err == nil {
			_, err = log.Write(line)
		}
		return err
	}
	r.Kind, r.At = record.Gone, r.Born
	hello, err := r.Line()
	if err != nil {
		return err
	}
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	if err := write(record.Start, first); err != nil {
		return err
	}
	for end := first.Add(o.Takes); ; {
		left := end.Sub(boottime.Now())
		if left <= 0 {
			return write(record.End, boottime.Now())
		}
		time.Sleep(min(left, aliveEvery))
		if err := write(record.Alive, boottime.Now()); err != nil {
			return err
		}
	}
}

// describe is what all of the program's records say.
func (o Order) describe() (r record.Record, err error) {
	deadline, err := time.Parse(time.RFC3339Nano, os.Getenv("WANDER_DEADLINE"))
	if err != nil {
		return r, fmt.Errorf("WANDER_DEADLINE: %w", err)
	}
	r = record.Record{
		Resource: os.Getenv("WANDER_RESOURCE"), Member: o.Member, PID: os.Getpid(), Token: os.Getenv("WANDER_TOKEN"),
		Deadline: onBootClock(deadline),
	}
	var bad [3]error
	r.Hop, bad[0] = strconv.ParseUint(os.Getenv("WANDER_HOP"), 10, 64)
	r.Fence, bad[1] = strconv.ParseUint(os.Getenv("WANDER_FENCE"), 10, 64)
	r.Born, bad[2] = born()
	return r, errors.Join(bad[:]...)
}

const (
	// maxReading is how far apart two readings of clocks may be that count as one, and
	// maxReadings how often they are read for that.
	maxReading  = time.Millisecond
	maxReadings = 100
)

// onBootClock is a time of the wall clock on the boot clock, never earlier than it is.
func onBootClock(at time.Time) clock.Instant {
	for n := 1; ; n++ {
		first := boottime.Now()
		left := time.Until(at)
		if last := boottime.Now(); last.Sub(first) < maxReading || n == maxReadings {
			return last.Add(left)
		}
	}
}

// ticksPerSecond is the unit of /proc/PID/stat, on all of Linux's architectures
// that Go supports.
const ticksPerSecond = 100

// born is when the system made this process, on the boot clock, rounded down to
// a hundredth of a second.
func born() (clock.Instant, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	_, fields, found := bytes.Cut(stat, []byte(") ")) // the name may have blanks
	list := bytes.Fields(fields)
	const startTime = 22 - 3 // counted from the field behind the name
	if !found || len(list) <= startTime {
		return 0, fmt.Errorf("/proc/self/stat: %q", stat)
	}
	ticks, err := strconv.ParseInt(string(list[startTime]), 10, 64)
	return clock.Instant(ticks * int64(time.Second) / ticksPerSecond), err
}
