package experiment

const beyondWalkLoadNotes = `75 members in a group that is configured for 300: everybody may run every 600 s, which is half of the resource's time.
The other half has to be idle; what is held against the goal is for how long nobody runs though somebody's last operation
ended Δmin ago.`

// walkFew is the group of the goals about light load.
const walkFew = 75

func beyondWalkLoad(l *Lab) error { return walkLightLoad(l, walkPresets()) }

func walkLightLoad(l *Lab, presets []string) error {
	table := walkTable{}
	spare := walkMessages
	spare.limit, spare.only = AtMost(60), ""
	late := walkIdle
	late.quantity = "share of time with no operation though somebody is due"
	late.value = func(r *walkRun) float64 { return r.waiting }
	for _, preset := range presets {
		g := walkOf(preset, walkFew)
		runs, err := g.runs(l)
		if err != nil {
			return err
		}
		table.add(g, "light load", runs)
		for _, q := range []walkQuantity{spare, late, walkTwo, walkMore, walkP99, walkP999, walkGap} {
			q.row(l, g, "-spare", runs)
		}
	}
	l.Table("beyond-walk-load", walkHeader, table)
	return nil
}
