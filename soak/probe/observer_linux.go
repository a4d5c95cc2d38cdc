package probe

import (
	"io"
	"net"
	"os"
	"sync"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/soak/record"
)

// Observer records when the programs are gone.
type Observer struct {
	listener net.Listener
	log      *os.File
	wait     sync.WaitGroup

	mu      sync.Mutex
	running map[net.Conn]record.Record
	failed  error // the first one
}

// Observe makes the log and listens at the socket.
func Observe(socket, log string) (*Observer, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		file.Close()
		return nil, err
	}
	o := &Observer{listener: listener, log: file, running: make(map[net.Conn]record.Record)}
	o.wait.Go(o.accept)
	return o, nil
}

func (o *Observer) accept() {
	for {
		conn, err := o.listener.Accept()
		if err != nil {
			return // closed
		}
		o.wait.Go(func() { o.follow(conn) })
	}
}

// follow waits for the end of one program. What it was started with may be
// missing, if it was killed before it could say so: then it did nothing either.
func (o *Observer) follow(conn net.Conn) {
	defer conn.Close()
	hello := make([]byte, record.Size)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return
	}
	r, err := record.Parse(string(hello))
	if err != nil {
		o.fail(err)
		return
	}
	o.mu.Lock()
	o.running[conn] = r
	o.mu.Unlock()
	_, _ = io.Copy(io.Discard, conn)
	r.Kind, r.At = record.Gone, boottime.Now()
	o.mu.Lock()
	delete(o.running, conn)
	o.mu.Unlock()
	line, err := r.Line()
	if err == nil {
		_, err = o.log.Write(line)
	}
	o.fail(err)
}

func (o *Observer) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// Running is the member that runs a program under the resource now, or "".
func (o *Observer) Running(resource string) (member string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.running {
		if r.Resource == resource {
			return r.Member
		}
	}
	return ""
}

// Close waits for the programs that still run, and returns what went wrong
// first. Nothing may start another one.
func (o *Observer) Close() error {
	o.listener.Close()
	o.wait.Wait()
	o.log.Close()
	return o.failed
}
