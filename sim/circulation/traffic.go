package circulation

import "time"

// Traffic is what policies have sent since the start, in bytes. It leaves out
// what is around that in real messages, such as signatures.
type Traffic struct {
	// Fields and Messages are the bytes of all policy fields on tokens that were
	// passed, and of all messages between policies.
	Fields, Messages uint64
	// Passes counts the passes, those that lost their token or came back too.
	Passes uint64
	// LongestField is the longest policy field.
	LongestField int
	// Connections counts those that passes and messages made, where
	// Config.IdleTimeout is given, and Connected is for how long they were or will
	// be open, all together.
	Connections uint64
	Connected   time.Duration
}

// passed notes the field of a token that is passed on.
func (t *Traffic) passed(field []byte) {
	t.Passes++
	t.Fields += uint64(len(field))
	t.LongestField = max(t.LongestField, len(field))
}

// told notes a message.
func (t *Traffic) told(body []byte) { t.Messages += uint64(len(body)) }

// Since returns what was sent since an earlier moment; LongestField is that of
// the whole run.
func (t Traffic) Since(before Traffic) Traffic {
	t.Fields -= before.Fields
	t.Messages -= before.Messages
	t.Passes -= before.Passes
	t.Connections -= before.Connections
	t.Connected -= before.Connected
	return t
}
