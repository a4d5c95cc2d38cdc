package envelope

// Packed is a verified envelope of which nothing is kept but its bytes, for
// those who keep very many. It can only be made of a Verified, so that it is as
// good as one. It is immutable and safe for concurrent use; the zero value is
// none.
type Packed struct {
	raw string
}

// Pack drops all that can be computed again.
func (v Verified) Pack() Packed { return Packed{string(v.raw)} }

// Unpack computes it again, which costs one hash of the payload and no check of
// the signature. d must be the domain in which the envelope was verified; it is
// not kept. The zero Packed gives the zero Verified.
func (p Packed) Unpack(d Domain) Verified {
	u, err := Parse(d, []byte(p.raw))
	if err != nil {
		return Verified{} // not of a Packed that was made by Pack
	}
	return Verified{u.content}
}

// Payload is the signed content.
func (p Packed) Payload() []byte {
	raw := []byte(p.raw)
	if len(raw) < bodyAt {
		return nil
	}
	start, end, err := parsePayload(raw, MaxConfiguration)
	if err != nil {
		return nil // as in Unpack
	}
	return raw[start:end]
}

// Raw is the whole envelope as it travels.
func (p Packed) Raw() string { return p.raw }

// IsZero reports whether p is no envelope at all.
func (p Packed) IsZero() bool { return p.raw == "" }
