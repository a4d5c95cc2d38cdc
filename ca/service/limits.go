package service

import "time"

// Limits on connections. A TLS handshake costs half a millisecond of processor
// time.
const (
	// MaxConnections bounds the open connections. One costs about 50 kB. When
	// one more comes, the oldest is closed.
	MaxConnections = 512
	// MaxPerAddress bounds those of one address: the machines behind one router
	// that start together.
	MaxPerAddress = 32
	// ConnectionsPerSecond is how many connections are taken in a second,
	// averaged: with all of them handshakes a quarter of a core.
	ConnectionsPerSecond = 500
	ConnectionBurst      = 1000
	// AddressPerSecond and AddressBurst are the same for one address.
	AddressPerSecond = 10
	AddressBurst     = 100
)

// Limits on requests.
const (
	// EnrolsPerSecond is how many requests of newcomers are looked at in a
	// second, averaged: each takes the authority's lock, and one that is granted
	// writes to the disk.
	EnrolsPerSecond = 50
	EnrolBurst      = 200
	// EnrolsPerAddress and AddressEnrolBurst are the same for one address. Guesses
	// are hopeless at any rate; this is for the processor.
	EnrolsPerAddress  = 2
	AddressEnrolBurst = 40
	// MemberPerSecond and MemberBurst are for the requests of one member, which
	// renews once in months and syncs every few minutes.
	MemberPerSecond = 0.2
	MemberBurst     = 20
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
	// upkeepPause is how often the TLS certificate and SeenFile are looked after,
	// besides at each handshake when the authority's log has grown.
	upkeepPause = 10 * time.Second
	// reopenPause is how often an authority that has failed is opened again at
	// most.
	reopenPause = time.Second
)

// Limits on what is logged: LinesPerSecond averaged, and LineBurst at once. What
// comes in between is counted, and the count is in the next line.
const (
	LinesPerSecond = 1
	LineBurst      = 50
)

// Limits on what is known of members.
const (
	// maxSeen bounds the members in SeenFile, those heard of last: newcomers
	// need a few.
	maxSeen = 1024
	// fresh is how long a member counts as living without having been heard of;
	// older ones are named to newcomers when there are no others.
	fresh = time.Hour
	// maxNoted bounds the leaves that are remembered as taken in already.
	maxNoted = 4096
)

// maxSeenFile bounds SeenFile, in bytes.
const maxSeenFile = maxSeen * 16 << 10
