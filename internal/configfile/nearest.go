package configfile

// maxDistance is how many edits away a word may be to be suggested: more, and
// the suggestion is noise.
const maxDistance = 3

// Nearest is the known word that is fewest edits away from what was written,
// the first of several; empty if none is near, or none of its letters stays.
func Nearest(word string, known []string) string {
	best, distance := "", min(maxDistance+1, len(word))
	for _, k := range known {
		if d := edits(word, k); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
