package judge

import (
	"encoding/json"
	"fmt"
	"time"
)

// Audit is the part of `wander audit --output json` that is judged.
type Audit struct {
	V        int `json:"v"`
	Findings []struct {
		Class   string   `json:"class"`
		Kind    string   `json:"kind"`
		Accused string   `json:"accused"` // of proofs only
		Again   int      `json:"again"`
		Detail  string   `json:"detail"`
		Who     []string `json:"members"`
	} `json:"findings"`
	Complaints []struct {
		About string   `json:"about"`
		Count int      `json:"count"`
		By    []string `json:"by"`
	} `json:"complaints"` // about the member of whom the most complain first
	Members []struct {
		Name       string `json:"name"`
		Operations int    `json:"operations"`
	} `json:"members"`
	Resources []struct {
		Resource   string `json:"resource"`
		Tokens     int    `json:"tokens"`
		Operations int    `json:"operations"`
		Handoffs   int    `json:"handoffs"`
		Overlap    struct {
			Certain  *float64 `json:"certain_s"`
			Possible *float64 `json:"possible_s"`
		} `json:"overlap"`
	} `json:"resources"`
	Losses []struct {
		Resource string `json:"resource"`
		Fate     string `json:"fate"`
		Last     string `json:"last"`
		To       string `json:"to"`
	} `json:"losses"`
}

// auditVersion is the version of the audit's JSON that this package reads.
const auditVersion = 2

// ParseAudit decodes an audit's JSON.
func ParseAudit(text []byte) (a Audit, err error) {
	if err = json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("the audit's report: %w", err)
	}
	if a.V != auditVersion {
		return a, fmt.Errorf("the audit's report is of version %d, expected %d", a.V, auditVersion)
	}
	return a, nil
}

// overlap is what the audit says of a resource, zero if no operation of it is
// in the journals. It is absent if the audit names the resource and not this.
func (a Audit) overlap(resource string) (certain, possible time.Duration, stated bool) {
	for _, r := range a.Resources {
		if r.Resource == resource {
			if r.Overlap.Certain == nil || r.Overlap.Possible == nil {
				return 0, 0, false
			}
			return seconds(*r.Overlap.Certain), seconds(*r.Overlap.Possible), true
		}
	}
	return 0, 0, true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Audited is an audit of copies of the journals. What was written before Copied
// is in them, what was written after it is not.
type Audited struct {
	Audit  `json:"-"`
	Name   string `json:"name"`
	Copied Span   `json:"copied"`
}
