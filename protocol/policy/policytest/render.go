package policytest

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// render writes an action as an answer line says it.
func render(a policy.Action) string {
	token := string(a.Token[:1])
	switch a.Kind {
	case policy.Run:
		return "run " + token
	case policy.Prepare:
		return "prepare " + token + to(a.To)
	case policy.Pass:
		text := "pass " + token + to(a.To)
		if len(a.Field) > 0 {
			text += " field " + hex.EncodeToString(a.Field)
		}
		return text
	case policy.Drop:
		return "drop " + token + " " + a.Reason.String()
	case policy.Generate:
		return "generate"
	case policy.Watch:
		return "watch " + string(a.To[:1])
	case policy.Unwatch:
		return "unwatch " + string(a.To[:1])
	case policy.Shun:
		return "shun " + string(a.To[:1]) + " until " + seconds(a.At)
	case policy.Complain:
		return fmt.Sprintf("complain about %s, token %s hop %d: %v, %v", string(a.To[:1]), token, a.Hop, a.Measure, a.Cause)
	case policy.Tell:
		return "tell " + string(a.To[:1]) + " " + hex.EncodeToString(a.Field)
	}
	return fmt.Sprintf("%+v", a)
}

// wait writes what a policy waits for.
func wait(until clock.Instant) string {
	if until == clock.Never {
		return "wait for nothing"
	}
	return "wait until " + seconds(until)
}

func seconds(at clock.Instant) string { return strconv.FormatFloat(float64(at)/1e9, 'f', -1, 64) + "s" }

func to(m ident.Member) string {
	if m.IsZero() {
		return ""
	}
	return " to " + string(m[:1])
}
