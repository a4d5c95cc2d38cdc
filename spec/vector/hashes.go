package vector

// Hashes is hashes.json: one SHA-256 for each object over many cases that are
// drawn from a seed, as the README describes.
type Hashes struct {
	V      int    `json:"v"`
	About  string `json:"about"`
	Cases  int    `json:"cases"`       // of Hash
	Short  int    `json:"short_cases"` // of ShortHash
	Hashes []Hash `json:"hashes"`
}

// Hash is that of one object.
type Hash struct {
	Object    string `json:"object"`
	Hash      Bytes  `json:"hash"`
	ShortHash Bytes  `json:"short_hash"`
}

func (r *Report) checkHashes(*Hashes) {}
