package api

import "time"

// Version is the "v" of every object.
const Version = 1

const (
	// MaxStreams bounds the acquire streams, waiting or holding, at one time.
	// Each costs a goroutine pair and a connection of about 20 kB.
	MaxStreams = 1024

	// MaxUserStreams bounds the acquire streams of one local user who is not the daemon's own: three such users take all places that
	// such users have, and no user takes them alone.
	MaxUserStreams = MaxStreams / 4

	// MaxUsersStreams bounds those of all such users together, so that the daemon's own user always has places.
	MaxUsersStreams = MaxStreams / 4 * 3

	// MaxUserConnections bounds the connections of one such user, whatever they are for: each is a file descriptor of the daemon, which
	// also needs some for its journal. A user has one for each stream, and a few for questions.
	MaxUserConnections = MaxUserStreams + MaxUserTunnels + 64

	// MaxUsersConnections bounds those of all such users together: more users than that have no programs here at once, and the
	// daemon keeps its descriptors for its journal and the owner.
	MaxUsersConnections = 4 * MaxUserConnections

	// MaxUserTunnels bounds the streams through gates of one such user.
	MaxUserTunnels = MaxTunnels / 4

	// MaxUsersTunnels bounds those of all such users together, as MaxUsersStreams does.
	MaxUsersTunnels = MaxTunnels / 4 * 3

	// MaxTunnels bounds the streams through gates that are open at one time. Each costs a few
	// goroutines and two buffers of 32 kB.
	MaxTunnels = 256

	// maxLooks bounds the answers that are put together at one time, as each keeps the member's engine waiting for up to some
	// milliseconds: the engine has a turn after so many at the latest. Others wait. It does not count those that are being sent.
	maxLooks = 4

	// MaxBody bounds a request's body in bytes. The largest request is below
	// 4 kB; the room is for fields to come.
	MaxBody = 64 << 10

	// maxReply bounds what a client reads of one reply, in bytes: the status
	// of a member with 1,024 resources of some tens of slots each.
	maxReply = 16 << 20

	// maxEvent bounds one line of an acquire stream, in bytes. A grant is
	// below 1 kB, and the largest permit, in base64, below 53 kB; the room is for fields to come.
	maxEvent = 64 << 10

	// maxHeader bounds a request's header, in bytes.
	maxHeader = 8 << 10

	// maxResource bounds a resource's name, in bytes, as the group
	// configuration does.
	maxResource = 64

	// MaxHeld bounds the grants under which one program may run, each within the
	// one before: more than anybody nests, few enough to look through.
	MaxHeld = 64

	// MaxLabel bounds the label by which a demand is shown to people, in
	// bytes.
	MaxLabel = 128
)

const (
	// progressEvery is how often a program that waits is told what for, at most: as often as people look.
	progressEvery = time.Second

	// readTimeout bounds how long a client may take over sending its request:
	// it is on the same machine.
	readTimeout = 10 * time.Second

	// writeTimeout bounds how long one line, or one reply, may wait for the client to read.
	writeTimeout = 10 * time.Second

	// idleTimeout closes connections that are kept without a request.
	idleTimeout = 30 * time.Second

	// drainTimeout is how long a client that withdraws its demand listens for
	// a grant that crossed its withdrawal.
	drainTimeout = time.Second

	// connectTimeout bounds the opening of a stream through a gate: a round trip, and the resource's own answer.
	connectTimeout = 10 * time.Second

	// probeTimeout bounds the dial of one member at all of its addresses, so that the answer comes within replyTimeout.
	probeTimeout = 8 * time.Second

	// replyTimeout bounds the wait for the reply to everything but acquire.
	replyTimeout = 10 * time.Second
)
