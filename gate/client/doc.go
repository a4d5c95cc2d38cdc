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
// A connection may have several sign-ins, one after the other or for several slots. It notices within Silence that the gate is
// gone: then Done is closed, and so are the answers of all sessions. Nothing is dialled again: a session that was lost is over.
//
// Answers are verified: they are by the key that the gate has shown in the handshake, for this connection, member and title.
// Their bytes are evidence.
package client
