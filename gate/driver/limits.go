package driver

import "time"

// Limits on connections.
const (
	// MaxConnections bounds the connections of members. One costs about 60 kB. Of more, the one without a sign-in that has been
	// silent for longest is closed; if all have one, the new connection is.
	MaxConnections = 1024

	// MaxPerMember bounds the connections of one member; of more, the oldest is closed. Two can be honest: one that is lost and its
	// successor.
	MaxPerMember = 4

	// MaxSignIns bounds the sign-ins of a connection that have not ended.
	MaxSignIns = 16

	// MaxStreams bounds the data streams of a connection. A program that opens more than that to one resource at once
	// would press the resource, not the gate.
	MaxStreams = 64

	// outRoom is how many frames wait for a connection's writer. A member that does not read its answers loses its connection.
	outRoom = 64

	// silence is for how long a connection may bring nothing; the member sends a keep-alive each second.
	silence = 4 * time.Second

	// handshakeTimeout bounds a handshake, helloTimeout the time from there to HELLO.
	handshakeTimeout = 3 * time.Second
	helloTimeout     = 5 * time.Second

	// writeTimeout bounds the writing of one frame.
	writeTimeout = 10 * time.Second
)

// Limits on what one member may ask for. A member that asks faster is read more slowly; nothing is lost.
const (
	// SignInsPerSecond and signInBurst bound the sign-ins of one member, and its sign-outs: each of the first costs up to nine signatures, about half a millisecond. An honest member
	// signs in once in a custody.
	SignInsPerSecond = 10
	signInBurst      = 20

	// updatesPerSecond and updateBurst bound the UPDATEs and HELLOs of one member. A list of 4,096 revocations takes 64 of them.
	updatesPerSecond = 2
	updateBurst      = 64

	// copiesPerSecond and copyBurst bound the configurations that one member is sent for its HELLOs: one for each connection, and then one in ten
	// seconds, as for sign-ins. One has up to 257 KiB.
	copiesPerSecond = 0.1
	copyBurst       = MaxPerMember

	// linesPerSecond and lineBurst bound the lines about refusals of one member, which are counted all the same: a line is 300 bytes, 5 MB in a day.
	linesPerSecond = 0.2
	lineBurst      = 8

	// maxBudgets bounds the members whose budgets are kept: as many as a directory of the default size. Beyond it full ones are forgotten.
	maxBudgets = 4096

	// maxCertificates bounds the certificates that are remembered as verified: those of all that may be connected. Of more all are
	// forgotten, and verified again. Only the CA makes new ones.
	maxCertificates = MaxConnections

	// maxLarge bounds the frames above 64 KiB that are read at a time, each of up to 304 KiB.
	maxLarge = 8

	// largeTimeout bounds the time that one of them takes: 60 kB/s.
	largeTimeout = 5 * time.Second

	// askEvery is how often a member is asked for a configuration that it names.
	askEvery = time.Second
)

// Limits on the tunnel.
const (
	// connectTimeout bounds the time from the opening of a data stream to its CONNECT.
	connectTimeout = 5 * time.Second

	// dialTimeout bounds the dial to the target, which is on the same host or beside it.
	dialTimeout = 5 * time.Second

	// copyBuffer is for one direction of one stream. Larger ones save no time.
	copyBuffer = 64 << 10

	// streamWindow and connectionWindow are QUIC's largest receive windows; they grow there from firstWindow only when the target takes what
	// comes. At 100 ms of round trip they admit 40 MB/s.
	firstWindow      = 64 << 10
	streamWindow     = 4 << 20
	connectionWindow = 8 << 20
)

// Limits on the engine.
const (
	// inputRoom is how many inputs wait for the engine: then the connections wait.
	inputRoom = 256

	// lateTick is from when on a Tick counts as late, and lateWait is for how long the engine then waits for hooks that may have ended meanwhile: gate
	// and hook may have paused together.
	lateTick = 100 * time.Millisecond
	lateWait = 250 * time.Millisecond

	// segmentSize is when the journal begins a new segment, in bytes. A session has about 400.
	segmentSize = 1 << 20

	// syncEvery is from one question to the CA for revocations to the next: with syncTimeout a session is cut within a minute of the revocation
	// of its member.
	syncEvery = 45 * time.Second

	// syncTimeout bounds one question to the CA.
	syncTimeout = 10 * time.Second

	// syncAgain is from a question that has failed to the next.
	syncAgain = 5 * time.Second

	// maxRevocations bounds the revocations that a gate keeps, with their bytes of about 250 each: 16 MB.
	maxRevocations = 1 << 16

	// noteEvery is how often one kind of trouble is logged.
	noteEvery = 10 * time.Second
)
