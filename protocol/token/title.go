package token

import (
	"cmp"
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// Title is the proof of custody at one hop.
type Title struct {
	Genesis  Genesis
	Transfer Transfer // zero at hop 0
	Void     Answer   // set when Transfer was declined and custody came back to its sender
}

// Check verifies that the parts of the title belong together.
func (t Title) Check() error {
	if t.Genesis.IsZero() {
		return fmt.Errorf("%w: no genesis", ErrChain)
	}
	if t.Transfer.IsZero() {
		if !t.Void.IsZero() {
			return fmt.Errorf("%w: void without a transfer", ErrChain)
		}
		return nil
	}
	if t.Transfer.Body().Token != t.Genesis.ID() {
		return fmt.Errorf("%w: transfer of another token", ErrChain)
	}
	if t.Transfer.Body().Hop == 1 {
		// What the transfer follows from is at hand here, so nobody needs to
		// rely on its receiver to have looked.
		if err := (Title{Genesis: t.Genesis}).Admits(t.Transfer); err != nil {
			return err
		}
	}
	if !t.Void.IsZero() && (t.Void.verdict != Void || !t.Void.Answers(t.Transfer)) {
		return fmt.Errorf("%w: void of another transfer", ErrChain)
	}
	return nil
}

// Token is the token's identifier.
func (t Title) Token() ident.Token { return t.Genesis.ID() }

// Hop is the custody number that the title proves.
func (t Title) Hop() uint64 { return t.Transfer.Body().Hop }

// Holder is the member that the title names.
func (t Title) Holder() ident.Member {
	switch {
	case t.Transfer.IsZero():
		return t.Genesis.Body().Generator
	case !t.Void.IsZero():
		return t.Transfer.Body().From
	}
	return t.Transfer.Body().To
}

// Giver is the member that gave the holder its custody. It is zero where the title does not
// name that member: of a token at its generator, and of one that was declined.
func (t Title) Giver() ident.Member {
	if t.Transfer.IsZero() || !t.Void.IsZero() {
		return ident.Member{}
	}
	return t.Transfer.Body().From
}

// Hash is what the next transfer names as its previous.
func (t Title) Hash() ident.Hash {
	if t.Transfer.IsZero() {
		return t.Genesis.Hash()
	}
	return t.Transfer.Hash()
}

// Signers are the members whose certificates verify the title and a transfer
// by its holder: the generator, the previous holder, whoever signed the void,
// and the holder. No member appears twice; there are at most four.
func (t Title) Signers() []ident.Member {
	signers := make([]ident.Member, 0, 4)
	signers = appendOnce(signers, t.Genesis.Body().Generator)
	if !t.Transfer.IsZero() {
		signers = appendOnce(signers, t.Transfer.Body().From)
	}
	if !t.Void.IsZero() {
		signers = appendOnce(signers, t.Void.Body().Signer)
	}
	return appendOnce(signers, t.Holder())
}

// SignersSince are the members whose certificates verify the title and the one before it, from which its transfer
// follows; that is the zero value at hop 0. No member appears twice; there are at most four, as the two transfers
// go between three members.
func (t Title) SignersSince(before Title) []ident.Member {
	if before.Genesis.IsZero() {
		return t.Signers()
	}
	signers := before.Signers()
	for _, m := range t.Signers() {
		signers = appendOnce(signers, m)
	}
	return signers
}

// Since checks the title, and that its transfer follows from the title before it, which is the zero value at hop 0.
func (t Title) Since(before Title) error {
	if t.Transfer.IsZero() {
		if !before.Genesis.IsZero() {
			return fmt.Errorf("%w: a title before hop 0", ErrChain)
		}
		return t.Check()
	}
	return cmp.Or(before.Check(), before.Admits(t.Transfer), t.Check())
}

func appendOnce(list []ident.Member, m ident.Member) []ident.Member {
	for _, x := range list {
		if x == m {
			return list
		}
	}
	return append(list, m)
}

// Next is the body of the transfer by which the title's holder gives custody
// to another member, which has accepted it so. Time and Field are the caller's to set.
func (t Title) Next(to ident.Member, r ident.Reservation) TransferBody {
	body := TransferBody{
		Token: t.Token(), Hop: t.Hop() + 1, From: t.Holder(), To: to,
		Incarnation: r.Incarnation, Accept: r.Number, MAC: r.MAC, Previous: t.Hash(),
	}
	if !t.Void.IsZero() {
		h := t.Void.Hash()
		body.Void = &h
	}
	return body
}

// Admits checks that next follows from the title: same token, the next hop,
// given away by the title's holder, naming the title's hash and its void
// exactly when there is one (handoff rules §4.1). The title itself must have
// passed Check.
func (t Title) Admits(next Transfer) error {
	b := next.Body()
	switch {
	case b.Token != t.Token():
		return fmt.Errorf("%w: another token", ErrChain)
	case t.Hop() == ^uint64(0) || b.Hop != t.Hop()+1:
		return fmt.Errorf("%w: hop %d after hop %d", ErrChain, b.Hop, t.Hop())
	case b.From != t.Holder():
		return fmt.Errorf("%w: given away by a member that does not hold it", ErrChain)
	case b.Previous != t.Hash():
		return fmt.Errorf("%w: another previous transfer", ErrChain)
	case (b.Void == nil) != t.Void.IsZero():
		return fmt.Errorf("%w: void named but not attached, or attached but not named", ErrChain)
	case b.Void != nil && *b.Void != t.Void.Hash():
		return fmt.Errorf("%w: another void", ErrChain)
	}
	return nil
}
