package api

import (
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Status is what one member knows. There is no global view: ages say how old
// the knowledge is.
type Status struct {
	V int `json:"v"` // set by the server
	// Why is what keeps this member from all of its resources, if something does.
	Why
	Member               ident.Member      `json:"member"`
	Name                 string            `json:"name"`
	Group                ident.Group       `json:"group"`
	GroupName            string            `json:"group_name"`
	ConfigurationVersion uint64            `json:"configuration_version"`
	Incarnation          ident.Incarnation `json:"incarnation"`
	Mode                 string            `json:"mode"` // durable or volatile
	UptimeS              float64           `json:"uptime_s"`
	Address              string            `json:"address"` // empty when it only dials out
	Peers                []PeerStatus      `json:"peers"`
	Link                 LinkStatus        `json:"link"`
	Stopping             bool              `json:"stopping"`
	KeyRetired           bool              `json:"key_retired"` // of the CA, that has signed its certificate
	Invalid              string            `json:"invalid"`     // why its certificate does not count; empty: it does
	Renewing             string            `json:"renewing"`    // how an expired one is renewed within the grace; empty: it is not
	Resources            []ResourceStatus  `json:"resources"`
	// Users are the local users with programs that wait or hold now, as far as the system tells.
	Users    []UserStatus  `json:"users"`
	Handoffs HandoffCounts `json:"handoffs"`
	Tokens   TokenCounts   `json:"tokens"`
	// Rejected counts messages that changed nothing, by reason.
	Rejected           map[string]uint64 `json:"rejected"`
	Journal            JournalStatus     `json:"journal"`
	CertificateExpires time.Time         `json:"certificate_expires"`
	Membership         MembershipStatus  `json:"membership"`
	Evidence           EvidenceStatus    `json:"evidence"`
	// Warnings are what an operator should look at.
	Warnings []Warning `json:"warnings"`
}

// Warning is what an operator should look at although programs may run, in one word and in one sentence.
type Warning struct {
	Cause    Cause  `json:"cause"`
	Sentence string `json:"sentence"`
}

// UserStatus counts the programs of one local user that wait or hold, over the connections that are open.
type UserStatus struct {
	User     uint32 `json:"user"`
	Programs int    `json:"programs"`
}

// MembershipStatus is how this member knows who else is one.
type MembershipStatus struct {
	RevocationVersion uint64        `json:"revocation_version"` // every revocation up to it is known
	Behind            bool          `json:"behind"`             // the CA has published what is not known here yet
	Snapshots         int           `json:"snapshots"`          // peers whose directories were compared since joining
	Exchanges         uint64        `json:"exchanges"`          // of directories, begun here
	UpdatesPending    int           `json:"updates_pending"`    // to be told to others
	Suspects          int           `json:"suspects"`           // members that do not answer
	LateS             float64       `json:"late_s"`             // how late this member has run of late; 0: punctual
	Patience          int           `json:"patience"`           // how many times as long it therefore waits before it suspects others
	Faults            []FaultStatus `json:"faults"`             // who handed over what nobody honest does
}

// EvidenceStatus is what this member has of proof that some member broke the
// rules, since whenever.
type EvidenceStatus struct {
	Kept   int    `json:"kept"`   // files
	Unsent int    `json:"unsent"` // of these, not yet brought to the CA
	Folder string `json:"folder"`
}

// FaultStatus counts what one member handed over that it should not have.
type FaultStatus struct {
	Member ident.Member `json:"member"`
	Count  uint64       `json:"count"` // forged or malformed
	Stale  uint64       `json:"stale"` // replaced by something newer: honest in small numbers
	Last   string       `json:"last"`  // what the last one was
}

// PeerStatus is what this member knows of one it talks or talked to.
type PeerStatus struct {
	Member    ident.Member `json:"member"`
	Name      string       `json:"name"`
	Connected bool         `json:"connected"`
}

// ResourceStatus is this member's view of one resource.
type ResourceStatus struct {
	Name string `json:"name"`
	Why
	Policy  string       `json:"policy"`
	Preset  string       `json:"preset"`
	Weight  int          `json:"weight,omitempty"` // of this member, where the resource has weights
	Slots   []SlotStatus `json:"slots"`
	Waiting int          `json:"waiting"` // local programs that wait
	// MaxHoldS is after what time a program is killed at the latest; 0: the resource is leaving.
	MaxHoldS float64 `json:"max_hold_s"`
	// NoPlace: the resource is shared in a ring that has no place for this member, as
	// more than half of the members only dial out. No turn comes to those that wait.
	NoPlace bool `json:"no_place"`
	// Windows are when programs may run; nil if they always may.
	Windows *WindowStatus `json:"windows,omitempty"`
}

// WindowStatus is when a resource is open, by this member's clock, or by that of its gate.
type WindowStatus struct {
	Text   string    `json:"text"`              // as the group's file has them, with semicolons between them
	Closed bool      `json:"closed"`            // no program begins now
	ByGate bool      `json:"by_gate,omitempty"` // they are closed by the clock of the resource's gate, and open by this member's
	Opens  time.Time `json:"opens,omitzero"`    // when programs may begin again
	Closes time.Time `json:"closes,omitzero"`   // when the window that is open closes
	// OpensS is after what time programs may begin again; nil if they may now, or as far as can be seen never will.
	OpensS *float64 `json:"opens_s"`
}

// SlotStatus is this member's view of one slot. Ages are in seconds, nil when
// it never happened as far as this member knows.
type SlotStatus struct {
	Slot           int         `json:"slot"`
	Leaving        bool        `json:"leaving"` // the configuration lacks it; a program still runs
	Held           bool        `json:"held"`
	Executing      bool        `json:"executing"`
	Token          ident.Token `json:"token,omitzero"` // the last one seen
	Hop            uint64      `json:"hop"`
	TokensSeen     uint64      `json:"tokens_seen"` // receptions, not distinct tokens
	LastSeenS      *float64    `json:"last_seen_s"`
	LastOperationS *float64    `json:"last_operation_s"` // anybody's, as far as the token told
	Operations     uint64      `json:"operations"`       // this member's, since its start
	ReturnS        float64     `json:"return_s"`         // between this member's last two; 0 before
	// IsolatedS is for how long no program here could begin for want of votes, and Missing
	// whose have not come (on_isolated); 0 while they come.
	IsolatedS float64        `json:"isolated_s,omitempty"`
	Missing   []ident.Member `json:"missing_votes,omitempty"`
	// Gate is what is known of the resource's gate; nil if it has none.
	Gate *GateStatus `json:"gate,omitempty"`
	// Holder is which member has the token, as far as is known, nil if nobody is known to; Search is
	// nil unless this member looks for it; Eta is nil if nothing can be predicted.
	Holder *HolderStatus `json:"holder,omitempty"`
	Search *SearchStatus `json:"search,omitempty"`
	Eta    *EtaStatus    `json:"eta,omitempty"`
	// Long is nil unless the present turn takes much longer than those of late. There is no Eta then.
	Long *LongStatus `json:"long,omitempty"`
	// Asker is the process that asked for what runs here; nil for the daemon's own operation, or if that is not known.
	Asker    *Asker `json:"asker,omitempty"`
	Founding bool   `json:"founding"` // its first token is being made
	// Gauges are what the slot's policy shows of itself, by names that end in
	// their base unit.
	Gauges map[string]float64 `json:"gauges,omitempty"`
}

// GateStatus is what this member knows of a resource's gate.
type GateStatus struct {
	Reachable bool   `json:"reachable"`
	Unreached string `json:"unreached,omitempty"` // why there is no connection: how the last dial ended
	Observes  bool   `json:"observes,omitempty"`  // it is no condition while it cannot be reached
	Said      string `json:"said"`                // what it has said last about this slot, or "asked"; empty: nothing yet
	// Hinders is why it lets no program in here, as protocol/member has it (Hindrance); empty if it does.
	Hinders string `json:"hinders,omitempty"`
	Session uint64 `json:"session,string,omitempty"`
	// NotBefore is when a refusal ends, as the gate said; zero if it did not.
	NotBefore time.Time `json:"not_before,omitzero"`
	SaidS     *float64  `json:"said_s,omitempty"` // how long ago it said what it has said last
	// AskedS is for how long a program here waits for it: nil if none does.
	AskedS *float64 `json:"asked_s,omitempty"`
}

// HandoffCounts counts handoffs of this member as sender since its start.
type HandoffCounts struct {
	OK              uint64 `json:"ok"`
	Retried         uint64 `json:"retried"`
	Reselected      uint64 `json:"reselected"`
	InDoubt         uint64 `json:"in_doubt"` // now
	InDoubtResolved uint64 `json:"in_doubt_resolved"`
}

// TokenCounts counts what this member did to tokens since its start.
type TokenCounts struct {
	Generated uint64 `json:"generated"`
	Dropped   uint64 `json:"dropped"`
}

// JournalStatus is the size of the journal and the work spent on it.
type JournalStatus struct {
	Segments int    `json:"segments"`
	Bytes    int64  `json:"bytes"`
	Fsyncs   uint64 `json:"fsyncs"`
	// Recalling: the member has restarted, and waits for its peers to confirm the journal.
	Recalling bool   `json:"recalling"`
	WentBack  uint64 `json:"went_back"` // how often it was found to have gone back, since the start
}

// MemberInfo is what this member knows of one member of the group.
type MemberInfo struct {
	Member    ident.Member `json:"member"`
	Name      string       `json:"name"`
	Class     string       `json:"class,omitempty"`
	State     string       `json:"state"` // valid, failed, left, revoked, retired key, expired, not yet valid
	Self      bool         `json:"self"`  // the member that answers
	Connected bool         `json:"connected"`
	Suspected bool         `json:"suspected"` // does not answer this member
	Sequence  uint64       `json:"sequence"`  // of its endpoint record; 0: none is known
	Addresses []string     `json:"addresses"`
	Expires   time.Time    `json:"expires"`
}

// MemberList is the reply to GET /v1/members.
type MemberList struct {
	V       int          `json:"v"` // set by the server
	Members []MemberInfo `json:"members"`
}
