package ringcheck

// pages is a list that grows without being copied, so that the memory it takes
// is never twice what is in it.
type pages[T any] struct {
	pages [][]T
	n     int
}

// pageSize is how many elements a page has: few enough that small explorations
// stay small.
const pageSize = 1 << 12

func (p *pages[T]) append(v T) {
	if p.n%pageSize == 0 {
		p.pages = append(p.pages, make([]T, pageSize))
	}
	p.pages[p.n/pageSize][p.n%pageSize] = v
	p.n++
}

func (p *pages[T]) at(i int) *T { return &p.pages[i/pageSize][i%pageSize] }
