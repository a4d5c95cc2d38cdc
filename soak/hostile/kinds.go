package main

import "time"

// badKind is one way to be bad.
type badKind struct {
	name string
	says string // what happens, for people

	acts    string // kind of the liar program
	bad     int    // how many bad members
	rate    float64
	args    []string
	ahead   float64       // genesis times: in parts of the clock allowance
	shift   time.Duration // and besides
	outside bool          // the bad one is no member; others want to be let in meanwhile
	far     bool          // and its address is of another network than those of members
	first   bool          // it is the slot's first keeper, whatever the options say
	rare    bool          // not among those that run by default
}

const (
	// mintRate is how many tokens a minter makes in a second.
	mintRate = 20
	// forgeRate is how many tokens a forger makes in a second.
	forgeRate = 1
	// bypassRate is how often a bypasser asks for a number.
	bypassRate = 4
	// floodRate is how many handshakes a flood begins in a second.
	floodRate = 150
	// justWithin is the part of the clock allowance by which a genesis time is wrong, and accepted.
	justWithin = 0.95
	// farOff is a time by which a genesis is refused.
	farOff = 24 * time.Hour
)

// badKinds are all of them.
var badKinds = []badKind{
	{name: "minter", says: "makes 20 tokens a second, and hands them out in turn", acts: "minter", bad: 1, rate: mintRate},
	{name: "minter-back", says: "the same, made just within clock_allowance ago", acts: "minter", bad: 1, rate: mintRate, ahead: -justWithin, rare: true},
	{name: "minter-ahead", says: "the same, made just within clock_allowance ahead", acts: "minter", bad: 1, rate: mintRate, ahead: justWithin},
	{name: "minter-fresh", says: "as minter, with a new incarnation for each", acts: "minter", bad: 1, rate: mintRate, args: []string{"-fresh"}, rare: true},
	{name: "hoarder", says: "keeps each token, and says that a program runs under it", acts: "hoarder", bad: 1, rate: 1},
	{name: "dodger", says: "a hoarder that answers for 6 s, and not for 3 s, in turn", acts: "dodger", bad: 1, rate: 1},
	{name: "evader", says: "passes 8 tokens on, then hoards, and says each time that it has another one of those", acts: "evader", bad: 1, rate: 1},
	{name: "dropper", says: "takes each token, and forgets it", acts: "dropper", bad: 1, rate: 1},
	{name: "dropper-mute", says: "the same, without a RECEIPT", acts: "dropper", bad: 1, rate: 1, args: []string{"-variant", "mute"}, rare: true},
	{name: "dropper-half", says: "the same with every other token; passes the others on", acts: "dropper", bad: 1, rate: 1, args: []string{"-variant", "half"}, rare: true},
	{name: "dropper-dead", says: "takes each token, and comes back with a new incarnation", acts: "dropper", bad: 1, rate: 1, args: []string{"-variant", "dead"}},
	{name: "idler", says: "drops each token, answers no question for one, and as the first keeper looks for none", acts: "idler", bad: 1, rate: 1, first: true},
	{name: "misleader", says: "drops each token, and says that it is on its way at a later hop", acts: "misleader", bad: 1, rate: 1, rare: true},
	{name: "pretender", says: "drops each token, and says that it has been there since before a restart", acts: "pretender", bad: 1, rate: 1, rare: true},
	{name: "forger", says: "two: tokens of 1970 at the last hop that there is", acts: "forger", bad: 2, rate: forgeRate, args: []string{"-variant", "1970"}},
	{name: "forger-2100", says: "two: tokens of 2100 at the last hop that there is", acts: "forger", bad: 2, rate: forgeRate, args: []string{"-variant", "2100"}},
	{name: "bypasser", says: "sends tokens made a day ago without an ACCEPT", acts: "bypasser", bad: 1, rate: bypassRate, shift: -farOff},
	{name: "bypasser-ahead", says: "the same, made a day ahead", acts: "bypasser", bad: 1, rate: bypassRate, shift: farOff, rare: true},
	{name: "friends", says: "three: pass tokens among themselves only", acts: "friends", bad: 3, rate: 1},
	{name: "favourer", says: "passes tokens to the second half of the honest members only", acts: "favourer", bad: 1, rate: 1, rare: true},
	{name: "flood", says: "150 half-open handshakes a second with one member, from one address of another network", acts: "flood", bad: 1, rate: floodRate, outside: true, far: true},
	{name: "flood-mute", says: "the same, from an address that is not proved", acts: "flood", bad: 1, rate: floodRate, args: []string{"-variant", "mute"}, outside: true, far: true, rare: true},
	{name: "flood-near", says: "as flood, from the members' own network", acts: "flood", bad: 1, rate: floodRate, outside: true, rare: true},
	{name: "visits", says: "nobody bad: those that want in during a flood, without one", outside: true, rare: true},
}

func kindOf(name string) badKind {
	for _, k := range badKinds {
		if k.name == name {
			return k
		}
	}
	return badKind{}
}

func allKinds() (list []string) {
	for _, k := range badKinds {
		list = append(list, k.name)
	}
	return list
}

func usualKinds() (list []string) {
	for _, k := range badKinds {
		if !k.rare {
			list = append(list, k.name)
		}
	}
	return list
}
