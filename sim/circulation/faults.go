package circulation

import (
	"math/rand/v2"
	"slices"
	"time"
)

// faults injects the losses and the crashes that a Config asks for.
type faults struct {
	*group
	tokens     *tokens
	handoffs   *handoffs
	membership *membership
	stream     *rand.Rand // streamFaults
}

// begin schedules the first loss and the first crash.
func (f *faults) begin() {
	if f.cfg.LossEvery > 0 {
		f.schedule(f.cfg.LossEvery, loss, 0, 0, 0)
	}
	if f.cfg.CrashEvery > 0 {
		f.schedule(exponentialSpan(f.stream, f.cfg.CrashEvery), crash, 0, 0, 0)
	}
}

// losePass is LossEvery.
func (f *faults) losePass() {
	f.handoffs.losing++
	f.schedule(f.cfg.LossEvery, loss, 0, 0, 0)
}

// crashSomebody is CrashEvery.
func (f *faults) crashSomebody() {
	f.schedule(exponentialSpan(f.stream, f.cfg.CrashEvery), crash, 0, 0, 0)
	from := f.up
	if f.cfg.CrashHolder {
		from = slices.DeleteFunc(f.tokens.holders(), func(m int32) bool { return f.sites[m].place < 0 })
	}
	if len(from) > 0 {
		f.membership.crash(from[f.stream.IntN(len(from))], f.cfg.DownFor)
	}
}

// downForGood draws the members that fall for good, and when each does.
func (f *faults) downForGood() {
	if f.cfg.Down <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(f.cfg.Seed, streamDown))
	for _, m := range rng.Perm(f.cfg.Members)[:f.cfg.falling()] {
		if f.cfg.DownBy <= 0 {
			f.fallForGood(int32(m))
			continue
		}
		f.schedule(time.Duration(rng.Int64N(int64(f.cfg.DownBy))), fallForGood, int32(m), 0, 0)
	}
}

// fallForGood takes a member down for good, also one that has crashed for a while.
func (f *faults) fallForGood(member int32) {
	if f.membership.crash(member, forever) {
		return
	}
	f.sites[member].gone = true
	for i := range f.tokens.list {
		if t := &f.tokens.list[i]; t.holder == member && t.state == waiting {
			f.tokens.lose(int32(i), LostWithHolder)
		}
	}
}
