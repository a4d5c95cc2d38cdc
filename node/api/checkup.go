package api

// Result is how one check of a checkup went.
type Result string

// The results, from good to bad.
const (
	Skipped Result = "skipped" // it could not be made, or has no meaning here
	Fine    Result = "ok"
	Warn    Result = "warn" // all works, and somebody should look
	Fail    Result = "fail"
)

// Check is one thing that was looked at.
type Check struct {
	Name    string `json:"name"`
	Result  Result `json:"result"`
	Finding string `json:"finding"`
	Advice  string `json:"advice"` // empty where nothing is to be done
}

// Checkup is the reply to GET /v1/checkup and POST /v1/probe.
type Checkup struct {
	V      int     `json:"v"` // set by the server
	Checks []Check `json:"checks"`
}

// ProbeRequest asks to dial one member.
type ProbeRequest struct {
	Peer string `json:"peer"` // name, id, or host:port
}

// History is the reply to GET /v1/history.
type History struct {
	V         int               `json:"v"` // set by the server
	Resources []ResourceHistory `json:"resources"`
}

// ResourceHistory is the last hour of one resource by minutes, the one that runs now last.
type ResourceHistory struct {
	Name     string          `json:"name"`
	Members  []MemberHistory `json:"members"` // those with most turns first
	Waits    []WaitHistory   `json:"waits"`
	OverlapS float64         `json:"overlap_s"`
}

// MemberHistory counts the turns of a member by minutes.
type MemberHistory struct {
	Name  string   `json:"name"` // or NotHeard
	Turns []uint16 `json:"turns"`
}

// NotHeard is the name for the turns of which nothing was heard but that they were: no member has it.
const NotHeard = ""

// WaitHistory sums up the waits that ended in one minute.
type WaitHistory struct {
	Count    int     `json:"count"`
	MeanS    float64 `json:"mean_s"`
	LongestS float64 `json:"longest_s"`
}
