package node

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/effect"
)

const (
	// evidenceQueue bounds the evidence that waits to be written to files. What
	// does not fit is in the journal, and comes again after a restart.
	evidenceQueue = 64
	// evidencePause is the pause after the CA was not reached with evidence, at
	// first; it doubles up to maxSyncPause.
	evidencePause = 5 * time.Second
	// evidenceGap is between two pieces that the CA took: below the rate at which
	// its service lets one member ask, with room for a renewal.
	evidenceGap = minSyncPause
)

// evidenceKeeper writes evidence to files, and brings it to the CA. It has a
// goroutine of its own: neither the disk nor the CA keeps a token waiting.
type evidenceKeeper struct {
	files   evidenceFolder
	ca      *authority
	reports *limiter
	log     *slog.Logger
	queue   chan effect.Evidence
	kept    atomic.Int64 // files
	unsent  atomic.Int64 // of these, what the CA has not taken
}

func newEvidenceKeeper(files evidenceFolder, ca *authority, reports *limiter, log *slog.Logger) *evidenceKeeper {
	return &evidenceKeeper{files: files, ca: ca, reports: reports, log: log, queue: make(chan effect.Evidence, evidenceQueue)}
}

// put takes evidence in, and never waits.
func (k *evidenceKeeper) put(e effect.Evidence) {
	select {
	case k.queue <- e:
	default:
		if k.reports.allow("evidence file skipped") {
			k.log.Warn("too much evidence at once: it stays in the journal until the next start writes its files")
		}
	}
}

// run keeps and sends until ctx ends, and then keeps what still waits.
func (k *evidenceKeeper) run(ctx context.Context) {
	atomicfile.Sweep(k.files.folder())
	k.count()
	timer := time.NewTimer(0)
	defer timer.Stop()
	tries, idle := 0, false
	for {
		select {
		case e := <-k.queue:
			k.keep(e)
			if idle {
				timer.Reset(0)
				idle = false
			}
		case <-timer.C:
			var again time.Duration
			tries, again = k.sendOne(ctx, tries)
			if idle = again == 0; !idle {
				timer.Reset(again)
			}
		case <-ctx.Done():
			k.keepRest()
			return
		}
	}
}

// keepRest keeps what still waits.
func (k *evidenceKeeper) keepRest() {
	for {
		select {
		case e := <-k.queue:
			k.keep(e)
		default:
			return
		}
	}
}

// count looks at what there is.
func (k *evidenceKeeper) count() {
	kept, unsent := k.files.count()
	k.kept.Store(int64(kept))
	k.unsent.Store(int64(unsent))
}

// keep writes one file, and logs it: each once.
func (k *evidenceKeeper) keep(e effect.Evidence) {
	file, err := k.files.keep(e)
	switch {
	case errors.Is(err, errEvidenceFull):
		if k.reports.allow("evidence full") {
			k.log.Warn("evidence folder is full: further evidence stays in the journal only", "folder", k.files.folder(), "files", maxEvidenceFiles)
		}
	case err != nil:
		if k.reports.allow("evidence file") {
			k.log.Error("cannot write evidence file; the evidence is in the journal", "error", err)
		}
	case file != "":
		k.log.Warn("evidence: a member broke the rules", "member", e.Accused, "kind", e.Kind, "file", file,
			"do", "wander audit verify-evidence, then wander ca revoke --evidence")
	}
	k.count()
}

// sendOne brings the CA one piece, if there is any and an address. It returns how
// many tries in a row have failed, and when to go on; 0: when more comes.
func (k *evidenceKeeper) sendOne(ctx context.Context, tries int) (failed int, again time.Duration) {
	if !k.ca.isKnown() {
		return 0, 0
	}
	name, raw := k.files.oldest()
	if name == "" {
		return 0, 0
	}
	ctx, cancel := context.WithTimeout(ctx, renewPatience)
	defer cancel()
	err := k.ca.client().Evidence(ctx, raw)
	switch {
	case err == nil:
		k.log.Info("evidence sent to the CA", "file", name)
		err = k.files.sent(name)
	case errors.Is(err, enrolment.ErrRefused):
		k.log.Warn("the CA rejected evidence; see the CA's log", "file", name)
		err = k.files.refused(name)
	}
	k.count()
	if err == nil {
		return 0, evidenceGap
	}
	if ctx.Err() == nil && k.reports.allow("evidence not sent") {
		k.log.Warn("cannot send evidence to the CA yet", "file", name, "error", err)
	}
	return tries + 1, evidenceWait(err, tries)
}

// evidenceWait is the pause after a failure.
func evidenceWait(err error, tries int) time.Duration {
	pause := doubled(evidencePause, tries, maxSyncPause)
	var busy *enrolment.BusyError
	if errors.As(err, &busy) {
		pause = max(pause, busy.After)
	}
	return pause
}

// status is what there is, for people.
func (k *evidenceKeeper) status() api.EvidenceStatus {
	return api.EvidenceStatus{Kept: int(k.kept.Load()), Unsent: int(k.unsent.Load()), Folder: k.files.folder()}
}
