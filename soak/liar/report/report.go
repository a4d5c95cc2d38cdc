// Package report is what a bad member of a hostile run says of its own acts: how often it
// tried, and what the honest members answered. Nothing is judged by it but how many of
// its tokens were taken.
package report

import (
	"encoding/json"
	"fmt"
	"os"
)

// Report is what a bad member has done until now.
type Report struct {
	Offered    int `json:"offered"`    // OFFERs of tokens that it has made up
	Refused    int `json:"refused"`    // answered by REFUSE
	Sent       int `json:"sent"`       // TRANSFERs of tokens that it has made up
	Receipts   int `json:"receipts"`   // answered by RECEIPT: an honest member has the token
	Voids      int `json:"voids"`      // answered by VOID
	Unknowns   int `json:"unknowns"`   // answered by UNKNOWN
	Kept       int `json:"kept"`       // tokens of others that it got
	Passed     int `json:"passed"`     // tokens of others that it passed to its friends, or before it hoarded
	Questions  int `json:"questions"`  // messages of keepers, and to them, that it answered in the place of its machine
	Withheld   int `json:"withheld"`   // messages of its machine that it did not send
	Restarts   int `json:"restarts"`   // lives after the first one
	Handshakes int `json:"handshakes"` // begun and not gone on with

	Tokens []string `json:"tokens,omitempty"` // those with a RECEIPT
	Error  string   `json:"error,omitempty"`  // why it ended
}

// Write puts the report into a file, in the place of the one before.
func (r *Report) Write(name string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Read reads a report.
func Read(name string) (r Report, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
