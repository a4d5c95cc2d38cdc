package experiment

const beyondWalkLoadNotes = `75 members in a group that is configured for 300: every member may run every 600 s, which is half of the resource's time. The other half has
to be idle. The goal is about the time in which no member runs although some member's last operation ended Δmin ago. A loss is felt until an operation
begins, including the time in which no member is due.`

// Why goals of full load are not met where there is time to spare.
const (
	whyIdleSpare = "a walk at random comes to one certain member of 75 at every 75th hop on average, so not to leave even one waiting takes 150 " +
		"messages for each operation at two for each hop, of which 60 are permitted. The rest of a token grows to 32 times skip_delay, for 25 " +
		"messages. Tried, in one run each: up to 4 times, 60 messages and 40 %; no growth, 131 messages and 22 %."
	whyGapSpare = "nobody is due for half of the time here, loss or not, and the wait for who is due next counts as well; at full load, where " +
		"somebody always is, fair meets this goal at every size. Nothing was tried: an operation cannot begin sooner than somebody may run."
)

func beyondWalkLoad(l *Lab) error {
	if l.sweeping() {
		return walkLightLoad(l, ownPresets())
	}
	return walkLightLoad(l, walkPresets())
}

func walkLightLoad(l *Lab, presets []string) error {
	table := walkTable{}
	spare := walkMessages
	spare.limit, spare.only = AtMost(60), ""
	late := walkIdle
	late.quantity = "share of time with no operation though somebody is due"
	late.value = func(r *walkRun) float64 { return r.waiting }
	gap := walkGap
	gap.why = whyGapSpare
	for _, preset := range presets {
		g := walkOf(l, preset, l.count(spareMembers))
		runs, err := g.runs(l)
		if err != nil {
			return err
		}
		table.add(g, "light load", runs)
		if late.why = whyIdleSpare; preset == walkFair {
			late.why = whyLateFair
		}
		for _, q := range []walkQuantity{spare, late, walkTwo, walkMore, walkP99, walkP999, gap} {
			q.row(l, g, "-spare", runs)
		}
	}
	l.Table("beyond-walk-load", walkHeader, table)
	return nil
}
