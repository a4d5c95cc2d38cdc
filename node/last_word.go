package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/ident"
)

// lastWordFile is where a daemon says why it has ended, in its state folder.
const lastWordFile = "ended.json"

// lastWordSize is the size of that file from the start of a daemon on: on a full disk its bytes can be
// replaced, and nothing can be added.
const lastWordSize = 512

// LastWord is why a daemon has ended by itself, or could not open its journal.
type LastWord struct {
	At      time.Time    `json:"at"`
	Member  ident.Member `json:"member"` // whose daemon it was
	Cause   api.Cause    `json:"cause"`
	Message string       `json:"message"`
}

// Gone says that a member cannot come back: it has left, or was revoked. Another
// member, with which the machine has joined again, can start in its place.
func (w LastWord) Gone(id ident.Member) bool {
	return w.Member == id && (w.Cause == explain.Left || w.Cause == explain.Revoked)
}

func newLastWord(now time.Time, id ident.Member, reason error) LastWord {
	return LastWord{At: now, Member: id, Cause: lastCause(reason), Message: reason.Error()}
}

// ReadLastWord is the last word of the daemon of a state folder. It is false if the daemon
// runs, has ended in order, or was killed.
func ReadLastWord(stateDir string) (w LastWord, ok bool) {
	f, err := os.Open(filepath.Join(stateDir, lastWordFile))
	if err != nil {
		return w, false
	}
	defer f.Close()
	text := make([]byte, lastWordSize)
	n, _ := f.Read(text)
	err = json.Unmarshal(text[:n], &w)
	return w, err == nil && w.Cause != ""
}

// lastWordWait is for how long a daemon that ends waits for the disk to take its last word: as long as a slow disk needs for
// one small write, and less than anybody waits for a daemon to end.
const lastWordWait = time.Second

// prepareLastWord makes the file, and withdraws the word of the daemon before. It keeps the room that the file has: on a
// full disk there is no other.
func prepareLastWord(stateDir string) error {
	f, err := os.OpenFile(filepath.Join(stateDir, lastWordFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(padded([]byte("{}")), 0)
	return errors.Join(err, f.Close())
}

// sayLastWordSoon says the last word, and goes on without it where the disk hangs: nobody is to wait for that who
// waits for the end.
func sayLastWordSoon(stateDir string, w LastWord) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		sayLastWord(stateDir, w)
	}()
	late := time.NewTimer(lastWordWait)
	defer late.Stop()
	select {
	case <-said:
	case <-late.C:
	}
}

// sayLastWord says why the daemon ends, if it does not end in order. Where the disk
// does not even take that, nothing is said.
func sayLastWord(stateDir string, w LastWord) {
	if w.Cause == "" {
		return
	}
	text, err := json.Marshal(w)
	for err == nil && len(text) > lastWordSize && w.Message != "" {
		w.Message = w.Message[:len(w.Message)/2]
		text, err = json.Marshal(w)
	}
	f, err := os.OpenFile(filepath.Join(stateDir, lastWordFile), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(padded(text), 0)
	_ = f.Close()
}

func padded(text []byte) []byte {
	return append(text, bytes.Repeat([]byte{' '}, max(0, lastWordSize-len(text)))...)
}

func lastCause(reason error) api.Cause {
	switch {
	case errors.Is(reason, ErrLeft):
		return explain.Left
	case errors.Is(reason, ErrRevoked):
		return explain.Revoked
	case errors.Is(reason, syscall.ENOSPC), errors.Is(reason, syscall.EDQUOT):
		return explain.DiskFull
	case errors.Is(reason, ErrJournal):
		return explain.JournalFailed
	}
	return ""
}
