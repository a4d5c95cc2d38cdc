package circulation

import (
	"math"
	"math/rand/v2"
	"time"
)

// Living is how many members are left once Config.Down of them have fallen.
func (c *Config) Living() int { return c.Members - c.falling() }

// falling is how many members fall for good.
func (c *Config) falling() int { return int(math.Round(c.Down * float64(c.Members))) }

// downForGood draws the members that fall for good, and when each does.
func (w *Simulation) downForGood() {
	if w.cfg.Down <= 0 {
		return
	}
	rng := rand.New(rand.NewPCG(w.cfg.Seed, streamDown))
	for _, m := range rng.Perm(w.cfg.Members)[:w.cfg.falling()] {
		if w.cfg.DownBy <= 0 {
			w.fallForGood(m)
			continue
		}
		at := w.now.Add(time.Duration(rng.Int64N(int64(w.cfg.DownBy))))
		w.At(at, func(w *Simulation) { w.fallForGood(m) })
	}
}

// fallForGood takes a member down for good, also one that has crashed for a while.
func (w *Simulation) fallForGood(member int) {
	if w.Crash(member, forever) {
		return
	}
	w.sites[member].gone = true
	for i := range w.tokens {
		if t := &w.tokens[i]; t.holder == int32(member) && t.state == waiting {
			w.lose(int32(i), LostWithHolder)
		}
	}
}
