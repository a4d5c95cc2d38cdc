package main

import "github.com/wandertoken/wander/lab/ringcheck"

// ringReport is the answer of ring. Schedules are empty where there is no
// such run.
type ringReport struct {
	V           int          `json:"v"`
	Algorithm   string       `json:"algorithm"`
	Processors  int          `json:"processors"`
	States      int          `json:"states"`
	Steps       int          `json:"steps"`
	Cut         bool         `json:"cut"`
	Exclusion   string       `json:"two_inside"`
	Deadlock    string       `json:"stuck"`
	Circulation string       `json:"for_ever"`
	Period      int          `json:"for_ever_steps"`
	Starvation  string       `json:"starves"`
	PerRequest  *ringRatio   `json:"messages_a_request"` // null: no bound, or not safe
	Traffic     []ringExtent `json:"service_traffic"`    // empty: no bound, or not safe
}

type ringRatio struct {
	Messages int    `json:"messages"`
	Requests int    `json:"requests"`
	Schedule string `json:"schedule"`
	Period   int    `json:"repeated_steps"`
}

type ringExtent struct {
	Counted  string `json:"counted"`
	Messages int    `json:"messages"`
	Schedule string `json:"schedule"`
}

func newRingReport(r *ringcheck.Report) ringReport {
	out := ringReport{
		V: 1, Algorithm: r.Algorithm.String(), Processors: r.Processors,
		States: r.States, Steps: r.Steps, Cut: r.Cut,
		Exclusion: r.Exclusion.String(), Deadlock: r.Deadlock.String(),
		Circulation: r.Circulation.String(), Period: r.Period, Starvation: r.Starvation.String(),
		Traffic: []ringExtent{},
	}
	if p := r.PerRequest; p.Requests > 0 {
		out.PerRequest = &ringRatio{p.Messages, p.Requests, p.Schedule.String(), p.Period}
	}
	if r.Live() {
		for _, m := range r.Traffic.Each() {
			out.Traffic = append(out.Traffic, ringExtent{m.Name, m.Messages, m.Schedule.String()})
		}
	}
	return out
}

// ringRun is the answer of ring --play.
type ringRun struct {
	V              int  `json:"v"`
	Requests       int  `json:"requests"`
	Served         int  `json:"served"`
	Sent           int  `json:"sent"`
	Delivered      int  `json:"delivered"`
	WorstSent      int  `json:"service_traffic_sent"`
	WorstDelivered int  `json:"service_traffic_delivered"`
	MostInside     int  `json:"most_inside"`
	Stuck          bool `json:"stuck"`
}

func newRingRun(r *ringcheck.Run) ringRun {
	return ringRun{
		1, r.Requests, r.Served, r.Sent, r.Delivered, r.WorstSent, r.WorstDelivered, r.MostInside, r.Stuck(),
	}
}
