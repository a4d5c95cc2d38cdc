// Command traces runs groups of members in the cluster simulation and writes what
// became of each token as steps of the model: spec/model/check.sh --traces replays
// them there. What is watched is what counts from outside: records that are
// written and synced, messages that leave, programs that start, crashes.
//
//	go run ./spec/model/traces --seeds 20 --out DIR
//
// It writes one file for each token, SEED-MIX-NUMBER.ndjson. The first line says which nodes are volatile, one
// bit each. Each further line is one step:
//
//	{"volatile":0}
//	{"at":0.144266,"machine":"sender","node":0,"hop":0,"event":"OFFER","to":0,"rid":"NONE"}
//
// # Why it exists
//
// The model proves its properties of the rules as written. A trace that the model can replay shows that the code
// took steps that the rules permit. A step that the model does not have stops the replay, at that line.
//
// # The types
//
//	fate        what became of a record that was written: lost, kept or synced
//	translator  makes steps of what drivers do, one cluster.Moment after the other
//	memory      what a member has beside the tokens: its incarnation, its floors, and
//	            each change that is not yet durable
//	story       what became of one token: its nodes, its slots and its lines
//	slot        what a member knows of one hop, in memory and on disk, as a record
//	rid         a number that was given to an offerer, alive or below the floor
//	line        one step of the model, as replay.pml reads it
//
// # The walk of one seed
//
//	watch              runs a cluster.Setting and collects its moments
//	fates              looks ahead: which records does a crash take, which does it leave?
//	translator.moment  turns each moment into steps
//	 ├ wrote           a record changes a slot in memory, and waits in memory.unsynced
//	 ├ sync            what waits is on disk now, floors last
//	 ├ said            the first OFFER, TRANSFER and answer of a hop are steps
//	 └ crashed         a volatile member remembers nothing
//	write              one file for each story in which a token was released
//
// # Invariants
//
// The same seed gives the same files: the seed also chooses the kinds of members (mixOf). Node 0 is the token's
// generator. A record that a crash left unsynced counts as synced when it is written, since the model knows only
// memory and disk. A story ends where it outgrows the arrays of replay.pml (mostHops, mostLines) or where the model
// has no word for what follows; the lines before remain valid.
//
// # What it does not do
//
// It judges nothing: that is for spin with replay.pml. It watches no real journal and no network. A new kind of
// step is an event in replay.pml, and a case in translator.moment, translator.wrote or translator.said.
//
// All of it runs in one goroutine.
package main
