package conformance

import (
	"crypto"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
)

// alpn, and the extensions of T-3 and T-21.
const alpn = "wander/1"

var (
	certificateOID = asn1.ObjectIdentifier{2, 25, 1968744538}
	vouchersOID    = asn1.ObjectIdentifier{2, 25, 1849619270}
)

// maxExtension is what the member certificate may have in its extension (T-4).
const maxExtension = 4096

// paper is what goes into a TLS certificate.
type paper struct {
	key        crypto.Signer
	extensions []pkix.Extension
	ends       time.Time // of the X.509 certificate, which nobody looks at
	spoilt     bool      // its X.509 signature does not hold
}

// carrying is the extension with a value that is no member certificate, maybe.
func carrying(value []byte) []pkix.Extension {
	return []pkix.Extension{{Id: certificateOID, Value: value}}
}

// octets is the DER of an OCTET STRING.
func octets(raw []byte) []byte {
	der, err := asn1.Marshal(raw)
	if err != nil {
		panic(err) // of bytes, there is none
	}
	return der
}

// paperOf is the one of a member as it ought to be.
func (r *run) paperOf(id Identity) paper {
	p := paper{key: id.Key.StdKey(), extensions: carrying(octets(id.Certificate.Raw()))}
	if vouchers := r.Group.Vouchers(); len(vouchers) > 0 {
		if value, err := asn1.Marshal(vouchers); err == nil {
			p.extensions = append(p.extensions, pkix.Extension{Id: vouchersOID, Value: value})
		}
	}
	return p
}

// sign makes the TLS certificate.
func (p paper) sign() (tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wander"},
		NotBefore: time.Unix(0, 0), NotAfter: p.ends, ExtraExtensions: p.extensions,
	}
	if p.ends.IsZero() {
		template.NotAfter = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	der, err := x509.CreateCertificate(nil, template, template, p.key.Public(), p.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	if p.spoilt {
		der[len(der)-1] ^= 1
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: p.key}, nil
}

// clientTLS presents these certificates, which may be none.
func clientTLS(certs ...tls.Certificate) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{alpn},
		InsecureSkipVerify: true, // memberOf does what X.509 cannot
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if len(certs) == 0 {
				return &tls.Certificate{}, nil
			}
			return &certs[0], nil
		},
	}
}

// Why the member under test has not proved who it is.
var (
	errOneCertificate = errors.New("not exactly one X.509 certificate with an Ed25519 key")
	errNoExtension    = errors.New("no extension 2.25.1968744538 in the X.509 certificate")
	errCritical       = errors.New("the extension is critical")
	errExtension      = errors.New("the extension is not the DER of one OCTET STRING")
	errOtherKey       = errors.New("the member certificate is for another key")
)

// memberOf is the member that has shown this TLS certificate.
func (r *run) memberOf(chain []*x509.Certificate) (c certificate.Certificate, err error) {
	if len(chain) != 1 {
		return c, errOneCertificate
	}
	key, ok := chain[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return c, errOneCertificate
	}
	raw, err := extensionOf(chain[0])
	if err != nil {
		return c, err
	}
	if c, err = certificate.Parse(r.Group.ID(), raw, r.Group); err != nil {
		return c, err
	}
	if c.Key().Bytes() != [32]byte(key) {
		return c, errOtherKey
	}
	return c, c.ValidAt(time.Now())
}

func extensionOf(x *x509.Certificate) (raw []byte, err error) {
	for _, e := range x.Extensions {
		if !e.Id.Equal(certificateOID) {
			continue
		}
		if e.Critical {
			return nil, errCritical
		}
		rest, err := asn1.Unmarshal(e.Value, &raw)
		if err != nil || len(rest) > 0 || len(e.Value) > maxExtension {
			return nil, errExtension
		}
		return raw, nil
	}
	return nil, errNoExtension
}
