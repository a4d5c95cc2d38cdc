package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/plan"
)

// errForm says that the page asks for something that this program does not know.
var errForm = errors.New("the form is damaged: reload the page")

// form is what a visitor chooses, in the words of `wander plan`. An empty duration is one that was not chosen.
type form struct {
	Members        int     `json:"members"`
	OperationTime  string  `json:"operation_time"`
	Every          string  `json:"every"`
	Policy         string  `json:"policy"`
	Preset         string  `json:"preset"`
	TargetInterval string  `json:"target_interval"`
	Latency        string  `json:"latency"`
	LossPercent    float64 `json:"loss_percent"`
	Crash          string  `json:"crash"`
	DownFor        string  `json:"down_for"`
	Volatile       bool    `json:"volatile"`
	First          uint64  `json:"first"`
	Seeds          int     `json:"seeds"`
}

// readForm reads what the page sends.
func readForm(text string) (*form, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	f := new(form)
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("%w: %w", errForm, err)
	}
	return f, nil
}

// defaultDownFor is that of `wander plan`.
const defaultDownFor = time.Minute

// request is what `wander plan` makes of the same choices.
func (f *form) request() (plan.Request, error) {
	r := plan.Request{
		Policy: f.Policy, Members: f.Members, Loss: f.LossPercent / 100, DownFor: defaultDownFor, Volatile: f.Volatile, First: f.First, Seeds: f.Seeds,
	}
	r.Params.Preset, r.Params.MembersMax, r.Params.SkipDelay = f.Preset, f.Members, group.DefaultSkipDelay
	for _, v := range []struct {
		name, text string
		to         *time.Duration
	}{
		{"operation time", f.OperationTime, &r.Params.OperationTime}, {"every", f.Every, &r.Every}, {"latency", f.Latency, &r.Latency},
		{"crash", f.Crash, &r.Crash}, {"down for", f.DownFor, &r.DownFor}, {"target interval", f.TargetInterval, &r.Params.TargetInterval},
	} {
		if strings.TrimSpace(v.text) == "" {
			continue
		}
		d, err := duration.Parse(v.text)
		if err != nil {
			return r, fmt.Errorf("%s: %w", v.name, err)
		}
		*v.to = d
	}
	return r, r.Validate()
}

// command is the command line that gives the same numbers.
func (f *form) command() []string {
	c := []string{"wander", "plan", "--members", strconv.Itoa(f.Members), "--operation-time", f.OperationTime}
	add := func(given bool, flag, value string) {
		if given {
			c = append(c, flag, value)
		}
	}
	text := func(flag, value string) { add(strings.TrimSpace(value) != "", flag, strings.TrimSpace(value)) }
	text("--every", f.Every)
	add(f.Policy != catalog.Wandering, "--policy", f.Policy)
	text("--preset", f.Preset)
	text("--target-interval", f.TargetInterval)
	text("--latency", f.Latency)
	add(f.LossPercent != 0, "--loss", strconv.FormatFloat(f.LossPercent, 'g', -1, 64)+"%")
	if text("--crash", f.Crash); strings.TrimSpace(f.Crash) != "" {
		text("--down-for", f.DownFor)
		if f.Volatile {
			c = append(c, "--volatile")
		}
	}
	add(f.First != 1, "--first", strconv.FormatUint(f.First, 10))
	add(f.Seeds != defaultSeeds, "--seeds", strconv.Itoa(f.Seeds))
	return c
}

// defaultSeeds is that of `wander plan`.
const defaultSeeds = 8
