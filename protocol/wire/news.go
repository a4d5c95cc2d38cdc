package wire

import "fmt"

// News contains membership updates outside a handoff.
type News struct {
	_       struct{} `cbor:",toarray"`
	Updates [][]byte // each authenticated by itself
}

// Type is TypeNews.
func (*News) Type() Type { return TypeNews }

func (m *News) validate() error {
	if len(m.Updates) == 0 {
		return fmt.Errorf("%w: news without updates", ErrLimit)
	}
	return objects("updates", m.Updates, MaxUpdates)
}
