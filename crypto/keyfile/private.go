package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/signature"
)

const (
	// WorkFactor is the usual cost of trying a passphrase: scrypt with 2^18
	// rounds, about a second and 256 MiB, the default of age.
	WorkFactor = 18
	// maxWorkFactor is the highest cost accepted when reading, so that no file
	// can ask for more than 1 GiB.
	maxWorkFactor = 20
	// maxPlain bounds the plain form of a key, several times what it has.
	maxPlain = 256
)

// COSE_Key labels' values: key type OKP, algorithm EdDSA, curve Ed25519 (RFC
// 9053 §2.2 and §7.2).
const (
	typeOKP      = 1
	algEdDSA     = -8
	curveEd25519 = 6
)

// coseKey is a private key as {1: 1, 3: -8, -1: 6, -4: seed}.
type coseKey struct {
	Type      int                      `cbor:"1,keyasint"`
	Algorithm int                      `cbor:"3,keyasint"`
	Curve     int                      `cbor:"-1,keyasint"`
	Seed      [signature.SeedSize]byte `cbor:"-4,keyasint"`
}

// EncodePrivateKey is the text of a key, in the clear: for a file of mode 0600.
func EncodePrivateKey(key *signature.PrivateKey) ([]byte, error) {
	plain, err := marshalKey(key)
	if err != nil {
		return nil, err
	}
	return EncodeBlocks(Block{Type: PrivateKey, Bytes: plain})
}

// EncryptPrivateKey is the text of a key that can be read only with the
// passphrase. work is the binary logarithm of the cost of each attempt, usually
// WorkFactor; below 1, or above 20, where the key could not be read again, it is
// refused with ErrWork. An empty passphrase is ErrPassphrase. The salt comes from the
// operating system.
func EncryptPrivateKey(key *signature.PrivateKey, passphrase []byte, work int) ([]byte, error) {
	if work < 1 || work > maxWorkFactor {
		return nil, fmt.Errorf("%w: %d, want 1 to %d", ErrWork, work, maxWorkFactor)
	}
	recipient, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return nil, fmt.Errorf("%w: it is empty", ErrPassphrase)
	}
	recipient.SetWorkFactor(work)
	plain, err := marshalKey(key)
	if err != nil {
		return nil, err
	}
	sealed, err := seal(plain, recipient)
	if err != nil {
		return nil, err
	}
	return EncodeBlocks(Block{Type: EncryptedPrivateKey, Bytes: sealed})
}

func seal(plain []byte, to age.Recipient) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to)
	if err != nil {
		return nil, fmt.Errorf("encrypt key: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("encrypt key: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encrypt key: %w", err)
	}
	return sealed.Bytes(), nil
}

func marshalKey(key *signature.PrivateKey) ([]byte, error) {
	return canonical.Marshal(coseKey{
		Type: typeOKP, Algorithm: algEdDSA, Curve: curveEd25519,
		Seed: [signature.SeedSize]byte(key.Seed()),
	})
}

// DecodePrivateKey reads a text that holds one private key and nothing else.
// passphrase is called only when the key is encrypted; nil means that nobody
// can be asked (ErrPassphraseNeeded), and its error is returned wrapped. Other
// errors are those of DecodeBlocks, ErrNoKey, ErrKey and ErrPassphrase.
func DecodePrivateKey(text []byte, passphrase func() ([]byte, error)) (*signature.PrivateKey, error) {
	blocks, err := DecodeBlocks(text)
	if err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, ErrNoKey
	}
	if len(blocks) > 1 {
		return nil, fmt.Errorf("%w: %d in a key file, want 1", ErrTooMany, len(blocks))
	}
	switch b := blocks[0]; b.Type {
	case PrivateKey:
		return unmarshalKey(b.Bytes)
	case EncryptedPrivateKey:
		return openKey(b.Bytes, passphrase)
	default:
		return nil, fmt.Errorf("%w: %s is not a private key", ErrType, b.Type)
	}
}

func openKey(sealed []byte, passphrase func() ([]byte, error)) (*signature.PrivateKey, error) {
	if passphrase == nil {
		return nil, ErrPassphraseNeeded
	}
	secret, err := passphrase()
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	identity, err := age.NewScryptIdentity(string(secret))
	if err != nil {
		return nil, fmt.Errorf("%w: it is empty", ErrPassphrase)
	}
	identity.SetMaxWorkFactor(maxWorkFactor)
	r, err := age.Decrypt(bytes.NewReader(sealed), identity)
	if errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, ErrPassphrase
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxPlain+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return unmarshalKey(plain)
}

func unmarshalKey(plain []byte) (*signature.PrivateKey, error) {
	var k coseKey
	limits := canonical.Limits{MaxBytes: maxPlain, MaxDepth: 1, MaxItems: 9}
	if err := canonical.Unmarshal(plain, &k, limits); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	if k.Type != typeOKP || k.Algorithm != algEdDSA || k.Curve != curveEd25519 {
		return nil, fmt.Errorf("%w: not an Ed25519 key", ErrKey)
	}
	key, err := signature.NewPrivateKey(k.Seed[:])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return key, nil
}
