package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wandertoken/wander/protocol/certificate"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// knowledge is what the gate knows of the group. It is safe for concurrent use.
type knowledge struct {
	resource string
	self     ident.Member

	mu          sync.Mutex
	group       *group.Group
	rules       rules
	revocations []certificate.SignedRevocation // ascending by version
	revoked     map[ident.Member]bool
}

func newKnowledge(cfg *Config) (*knowledge, error) {
	k := &knowledge{resource: cfg.Resource, self: cfg.Certificate.Member(), group: cfg.Group, revoked: make(map[ident.Member]bool)}
	var err error
	if k.rules, err = rulesOf(cfg.Group, cfg.Resource, k.self); err != nil {
		return nil, err
	}
	for _, raw := range cfg.Extra.Revocations {
		if r, err := certificate.ParseRevocation(cfg.Group.ID(), raw, cfg.Group.History()); err == nil {
			k.add(r)
		}
	}
	return k, nil
}

// add needs k.mu, or that nobody else has k. It reports whether the revocation is new. One beyond maxRevocations is not kept, but its member is out, and
// of one member too many the machine hears.
func (k *knowledge) add(r certificate.SignedRevocation) bool {
	i, there := slices.BinarySearchFunc(k.revocations, r.Body().Version, func(o certificate.SignedRevocation, v uint64) int {
		return cmp.Compare(o.Body().Version, v)
	})
	member := r.Body().Member
	switch {
	case there:
		return false
	case len(k.revocations) < maxRevocations:
		k.revocations = slices.Insert(k.revocations, i, r)
	case k.revoked[member] || len(k.revoked) > core.MaxRevoked:
		return false
	}
	k.revoked[member] = true
	return true
}

// current is the group, and the rules by its configuration.
func (k *knowledge) current() (*group.Group, rules) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.group, k.rules
}

func (k *knowledge) isRevoked(id ident.Member) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.revoked[id]
}

// version is up to which one all revocations are here: those below the configuration's floor are of members whose certificates have expired.
func (k *knowledge) version() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.versionLocked()
}

func (k *knowledge) versionLocked() uint64 {
	v := k.group.Config().Settings().RevocationFloor
	for _, r := range k.revocations {
		switch next := r.Body().Version; {
		case next <= v:
		case next == v+1:
			v = next
		default:
			return v
		}
	}
	return v
}

// above are the revocations above a version, ascending, at most n of them.
func (k *knowledge) above(version uint64, n int) (list [][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.revocations {
		if r.Body().Version > version && len(list) < n {
			list = append(list, r.Raw())
		}
	}
	return list
}

// members are all that are revoked.
func (k *knowledge) members() []ident.Member {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]ident.Member, 0, len(k.revoked))
	for id := range k.revoked {
		list = append(list, id)
	}
	slices.SortFunc(list, ident.Member.Compare)
	return list
}

// learn takes in what a member or the CA says. It reports what has changed. What does not verify is an error; an older configuration is
// none. Of a configuration that cannot be used the revocations beside it count all the same.
func (k *knowledge) learn(config []byte, authorities, revocations [][]byte) (configured, revoked bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(config) > 0 {
		configured, err = k.configure(config, authorities)
	} else if len(authorities) > 0 {
		if more := k.group.Vouched(authorities); more != k.group {
			k.group, configured = more, true
		}
	}
	for _, raw := range revocations {
		r, bad := certificate.ParseRevocation(k.group.ID(), raw, k.group)
		if errors.Is(bad, certificate.ErrUnknownCA) {
			continue // of a key that was retired, or is not known yet
		}
		if bad != nil {
			return configured, revoked, fmt.Errorf("revocation: %w", bad)
		}
		revoked = k.add(r) || revoked
	}
	return configured, revoked, err
}

// configure needs k.mu.
func (k *knowledge) configure(config []byte, authorities [][]byte) (bool, error) {
	next, err := k.group.Update(config, authorities)
	if errors.Is(err, group.ErrOlder) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("configuration: %w", err)
	}
	r, err := rulesOf(next, k.resource, k.self)
	if err != nil {
		return false, &unfitError{err}
	}
	k.group, k.rules = next, r
	return true, nil
}

// unfitError says that a configuration that verifies has no place for this gate.
type unfitError struct{ err error }

func (e *unfitError) Error() string { return e.err.Error() }
func (e *unfitError) Unwrap() error { return e.err }

// errPage says that the CA has more revocations, and does not come to them.
var errPage = errors.New("the CA has more revocations than it gives")

// sync asks the CA, as often as there is more. It goes by what has come, not by what counts: a revocation that a retired key has signed counts here no
// more, and must not hide those behind it. That a configuration has no place for this gate is said at the end.
func (k *knowledge) sync(ctx context.Context, ask func(context.Context, *group.Group, uint64) (News, error)) (configured, revoked bool, err error) {
	var misfit error
	for above := k.version(); ; {
		g, _ := k.current()
		news, err := ask(ctx, g, above)
		if err != nil {
			return configured, revoked, err
		}
		var raw []byte
		if news.Group != nil && news.Group.Config().Version() > g.Config().Version() {
			raw = news.Group.Config().Raw()
		}
		var statements [][]byte
		if news.Group != nil {
			statements = news.Group.Vouchers()
		}
		c, r, err := k.learn(raw, statements, news.Revocations)
		configured, revoked = configured || c, revoked || r
		if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
			misfit, err = unfit, nil
		}
		if err != nil || !news.More {
			return configured, revoked, cmp.Or(err, misfit)
		}
		last := above
		for _, raw := range news.Revocations {
			if b, err := certificate.PeekRevocation(g.ID(), raw); err == nil {
				last = max(last, b.Version)
			}
		}
		if last == above {
			return configured, revoked, errPage
		}
		above = last
	}
}
