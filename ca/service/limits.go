package service

import "time"

// Limits on connections. A TLS handshake costs half a millisecond of processor
// time.
const (
	// maxConnections bounds the open connections. One costs about 50 kB. When
	// one more comes, the oldest is closed.
	maxConnections = 512
	// maxPerAddress bounds those of one address: the machines behind one router
	// that start together.
	maxPerAddress = 32
	// connectionsPerSecond is how many connections are taken in a second,
	// averaged: with all of them handshakes a quarter of a core.
	connectionsPerSecond = 500
	connectionBurst      = 1000
	// addressPerSecond and addressBurst are the same for one address.
	addressPerSecond = 10
	addressBurst     = 100
)

// Limits on requests.
const (
	// enrolsPerSecond is how many requests of newcomers are looked at in a
	// second, averaged: each takes the authority's lock, and one that is granted
	// writes to the disk.
	enrolsPerSecond = 50
	enrolBurst      = 200
	// enrolsPerAddress and addressEnrolBurst are the same for one address. Guesses
	// are hopeless at any rate; this is for the processor.
	enrolsPerAddress  = 2
	addressEnrolBurst = 40
	// memberPerSecond and memberBurst are for the requests of one member, which
	// renews once in months and syncs every few minutes.
	memberPerSecond = 0.2
	memberBurst     = 20
	// maxBuckets bounds the addresses, and the members, that are told apart. The
	// one that was not heard of for longest is forgotten.
	maxBuckets = 1 << 14
)

// Limits on time.
const (
	// headerTimeout bounds the TLS handshake, and again the head of a request.
	headerTimeout = 5 * time.Second
	// readTimeout bounds a request with its body, at most 32 KiB.
	readTimeout = 10 * time.Second
	// writeTimeout bounds what follows: an answer of 4 MiB over a line of 1
	// Mbit/s.
	writeTimeout = 45 * time.Second
	// maxHeader bounds the head of a request, in bytes; net/http adds 4096.
	maxHeader = 4 << 10
	// upkeepPause is how often the TLS certificate and seenFile are looked after,
	// besides at each handshake when the authority's log has grown.
	upkeepPause = 10 * time.Second
	// reopenPause is how often an authority that has failed is opened again at
	// most.
	reopenPause = time.Second
)

// Limits on what is logged: linesPerSecond averaged, and lineBurst at once. What
// comes in between is counted, and the count is in the next line.
const (
	linesPerSecond = 1
	lineBurst      = 50
)

// Limits on what is known of members.
const (
	// maxSeen bounds the members in seenFile, those heard of last: newcomers
	// need a few.
	maxSeen = 1024
	// fresh is how long a member counts as living without having been heard of;
	// older ones are named to newcomers when there are no others.
	fresh = time.Hour
	// maxNoted bounds the leaves that are remembered as taken in already.
	maxNoted = 4096
)

// maxSeenFile bounds seenFile, in bytes.
const maxSeenFile = maxSeen * 16 << 10
