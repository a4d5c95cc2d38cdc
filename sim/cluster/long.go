package cluster

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// longMembers and longHours are what the preset Long has when nobody says
	// otherwise: so much that a process audits it in little memory.
	longMembers, longHours = 50, 10 * time.Hour
	// longSkip is how long an idle token stays: about a thousand handoffs an hour.
	longSkip = 3700 * time.Millisecond
	// longGossip is how often a member exchanges digests with a random one, and how long
	// one without connections waits before it looks for one.
	longGossip = 10 * time.Minute
)

// drawLong is the preset Long: a group in which an hour is cheap and no less real.
// Members are durable, know each other when they begin, and exchange digests as rarely
// as every ten minutes; one token walks. Everything that can go wrong does, about a
// hundred times an hour.
func drawLong(seed uint64, members int) (setting, chaos) {
	if members == 0 {
		members = longMembers
	}
	rng := rand.New(rand.NewPCG(seed, 0x6c6f6e67))
	s := setting{
		seed: seed, tuning: handoff.DefaultTuning, syncTime: 2 * time.Millisecond, checkpointAfter: 500, lean: true,
		resources: []group.Resource{group.Resource{
			Name: "r", MaxHold: 2 * time.Second, Params: policy.Params{
				Preset: wandering.Paper, OperationTime: 2 * time.Second, MembersMax: members, SkipDelay: longSkip, RegenerationMean: 25 * time.Hour,
			}}.WithDefaults()},
		constants: group.Settings{GossipInterval: longGossip, ClockAllowance: clockAllowance},
		net: networkSetting{
			delay: 10 * time.Millisecond, jitter: 5 * time.Millisecond, loss: 0.005, repeat: 0.005, late: 0.002, lateBy: 10 * time.Second,
			notice: time.Second, idle: idleTimeout, rest: longGossip,
		},
	}
	s.walks = s.resources
	for i := range members {
		s.members = append(s.members, memberSetting{durable: true, found: i == 0, driving: driving(rng.IntN(3)), knowsOnce: true})
	}
	f := chaos{
		downMean: 4 * time.Second, cutMean: 5 * time.Second, sleepMean: 6 * time.Second, slowMean: time.Minute, slowest: 3 * time.Second,
		demandEvery: 20 * time.Minute, least: longHours, most: longHours, wrongClocks: true,
	}
	for kind, perHour := range map[fault]int{
		faultCrash: 12, faultPower: 8, faultStop: 3, faultBreak: 6, faultCut: 10, faultOneWay: 10, faultClock: 25, faultSuspend: 12, faultSlowDisk: 14, faultSyncFails: 5, faultDiskFull: 5,
	} {
		f.every[kind] = time.Hour / time.Duration(perHour)
	}
	return s, f
}
