// Package client is a member's side of the gate of a resource: it signs in with the title of a token, hears the gate's signed
// answers, and reaches the resource through the gate while its session is open.
//
//	conn, err := client.Dial(ctx, client.Config{…})          // shakes hands, exchanges versions
//	s, err := conn.SignIn(title, before, certificates, length)
//	for a := range s.Answers() { … }                         // BUSY, OPEN; REFUSE or CLOSED is the last one
//	stream, err := s.Connect(ctx)                            // once OPEN was said; as often as needed
//	closed, err := s.SignOut(ctx)                            // waits for CLOSED
//	conn.Close()
//
// # The walk of a session
//
//	Dial      handshake: the member's certificate is shown, the gate's is verified (transport.ClientTLS, Config.Gate)
//	          HELLO both ways, then the UPDATEs that the gate lacks
//	SignIn    permit and statement for this connection's exporter value; UPDATEs before it, if the member knows more by now
//	read      one goroutine: each answer is verified, and goes to its session; UPDATEs go to Config.Learn
//	Connect   a stream of its own, with CONNECT first
//	end       whatever ends the connection ends all sessions, and then closes Done
//
// # What is whose
//
//	control stream, written    Conn.writing, which also keeps the order: UPDATE, then the SIGN-IN that needs it
//	sessions, why it ended     Conn.mu
//	what a session has heard   Session.mu; its channel is written by the reader alone
//
// # What a member does with it
//
// BUSY says what the slot waits for, and until when: the member stays. OPEN lets Connect succeed until CLOSED. REFUSE says that this
// custody opens nothing; of code gate.Outdated the newer configuration has come to Learn before it. A BUSY with Stuck says that an operator
// is needed. SignOut waits for CLOSED, and Confirmed in it says that no work of the session goes on.
//
// A connection may have several sign-ins, one after the other or for several slots. It notices within Silence that the gate is
// gone: then Done is closed, and so are the answers of all sessions. Nothing is dialled again: a session that was lost is over.
//
// Answers are verified: they are by the key that the gate has shown in the handshake, for this connection, member and title.
// Their bytes are evidence.
package client
