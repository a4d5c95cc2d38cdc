package enrolment

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Limits on time and size, of one request to one address.
const (
	// dialTimeout bounds the connection and, again, the TLS handshake.
	dialTimeout = 5 * time.Second
	// requestTimeout bounds a request in all: an answer of MaxAnswer over a line
	// of 2 Mbit/s takes 17 s.
	requestTimeout = 30 * time.Second
	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 8 << 10
	// maxRetryAfter bounds what a service can make a client wait.
	maxRetryAfter = time.Hour
)

// caller makes requests of a service at some addresses.
type caller struct {
	trust     trust
	addresses []string
	member    *tls.Certificate // nil for a newcomer
}

// reply is an answer whose status was 200 or 204.
type reply struct {
	body []byte
	// skew is how much this machine's clock is slow against the service's, as
	// far as the date of the answer, in whole seconds, and the time that it took
	// tell.
	skew time.Duration
}

// call tries the addresses in their order until one answers. Errors: those of
// the Reasons, ErrAnswer, ErrImpostor, *ClockError, ErrUnreachable; when several
// addresses failed, the one that says most.
func (c *caller) call(ctx context.Context, path string, body []byte) (reply, error) {
	worst := fmt.Errorf("%w: no address", ErrUnreachable)
	for _, address := range c.addresses {
		r, err := c.callAt(ctx, address, path, body)
		if err == nil || ctx.Err() != nil || isAnswer(err) {
			return r, err
		}
		if errors.Is(worst, ErrUnreachable) {
			worst = err
		}
	}
	return reply{}, worst
}

// isAnswer reports whether an error is what the authority has to say, so that
// another address would say the same.
func isAnswer(err error) bool {
	for _, is := range []error{ErrRefused, ErrRevoked, ErrLeft, ErrExpired, ErrNotYetValid} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

func (c *caller) callAt(ctx context.Context, address, path string, body []byte) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	client := c.client()
	defer client.CloseIdleConnections()
	target := url.URL{Scheme: "https", Host: address, Path: path}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	request.Header.Set("Content-Type", ContentType)
	request.Header.Set("User-Agent", "wander")
	before := c.trust.now()
	response, err := client.Do(request)
	if err != nil {
		return reply{}, callError(address, err)
	}
	defer response.Body.Close()
	return read(address, response, before, c.trust.now())
}

// client makes one connection for one request, which goes to the service of the
// group or nowhere.
func (c *caller) client() *http.Client {
	conf := c.trust.config()
	if c.member != nil {
		conf.Certificates = []tls.Certificate{*c.member}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:        conf,
			TLSHandshakeTimeout:    dialTimeout,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// callError says why there was no answer from an address.
func callError(address string, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, ErrImpostor) || errors.Is(err, ErrClock) {
		return fmt.Errorf("%s: %w", address, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, address, err)
}

// read takes in an answer.
func read(address string, response *http.Response, before, after time.Time) (reply, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer+1)) // one more is refused by Decode
	switch {
	case err != nil:
		return reply{}, fmt.Errorf("%w: %s: %w", ErrUnreachable, address, err)
	case response.StatusCode == http.StatusOK, response.StatusCode == http.StatusNoContent:
		return reply{body: body, skew: skew(response.Header.Get("Date"), before, after)}, nil
	}
	refusal, err := Decode[Refusal](body)
	if err != nil {
		return reply{}, fmt.Errorf("%w: HTTP status %d", ErrAnswer, response.StatusCode)
	}
	return reply{}, refusalError(refusal, response.Header.Get("Retry-After"))
}

func refusalError(r Refusal, retryAfter string) error {
	switch r.Reason {
	case Busy:
		seconds, _ := strconv.ParseUint(retryAfter, 10, 31)
		return &BusyError{After: min(time.Duration(seconds)*time.Second, maxRetryAfter)}
	case Revoked:
		return &RevokedError{Revocation: r.Object}
	}
	return r.Reason.Err()
}

// skew compares the date of an answer, which is cut to seconds, with the clock
// before and after. What can be due to the cut and the time that the request
// took is none.
func skew(date string, before, after time.Time) time.Duration {
	theirs, err := http.ParseTime(date)
	switch {
	case err != nil:
		return 0
	case theirs.After(after):
		return theirs.Sub(after)
	case theirs.Add(time.Second).Before(before):
		return theirs.Add(time.Second).Sub(before)
	}
	return 0
}
