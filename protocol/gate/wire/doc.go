// Package wire is what a member and the gate of a resource say to each other over QUIC: frames, and the answers that the
// gate signs.
//
// A connection belongs to two parties of one group, who have shown their certificates in the handshake (ALPN). The member
// opens one stream for control, and further ones for data. Each side's first frame on the control stream is Hello; the
// side that has the newer configuration or more revocations then sends Updates, before anything else.
//
//	member                                  gate
//	Hello, Update…            ◀──▶          Hello, Update…
//	SignIn{number, permit, statement} ──▶
//	                          ◀──           Answer{number, envelope}: BUSY … OPEN … CLOSED, or REFUSE
//	SignOut{number}           ──▶
//	                          ◀──           Answer: CLOSED
//
// The first frame of a data stream is Connect, or ConnectTo for a target with a name, with the number of a sign-in whose session is open. What follows goes to
// the target and comes from there, without frames. Targets, behind a gate's Hello, says which names there are.
//
// # Numbers
//
// A sign-in has the number of its statement, which counts from 1 within a connection. SignOut, Answer and Connect name it,
// so that what crosses another sign-in on the wire ends nothing else.
//
// # Answers
//
// AnswerBody is signed by the gate's key. It names the member and the title that it is for, the connection's exporter value
// and the number, so that an answer cannot be shown in the place of another one, and a watcher sees what it was about.
//
// # Room
//
// A frame's length comes first, and its bytes are made room for before they have come. So a data stream, of which a connection has
// many, may begin with nothing larger than Connect; and who reads a control stream is asked before a frame above 64 KiB. How long such a
// frame may take is for the caller to bound.
//
// # What holds
//
// Everything is decoded strictly and within limits. Nothing here reads a clock or a key file.
package wire
