package main

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"math/big"
	"time"

	"github.com/wandertoken/wander/spec/vector"
)

const tlsFile = "tls.json"

// memberExtension carries the member certificate in an X.509 certificate.
var memberExtension = asn1.ObjectIdentifier{2, 25, 1968744538}

// x509Of is a self-signed X.509 certificate with extensions of one kind.
func x509Of(p *party, values ...[]byte) []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "wander"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	for _, v := range values {
		template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{Id: memberExtension, Value: v})
	}
	der, err := x509.CreateCertificate(nil, template, template, p.private.Public(), p.private)
	if err != nil {
		panic(err) // the template is ours
	}
	return der
}

// octets is the DER of an OCTET STRING.
func octets(b []byte) []byte {
	der, err := asn1.Marshal(b)
	if err != nil {
		panic(err) // bytes always have a DER form
	}
	return der
}

// tlsVectors are the certificates that peers show in the TLS handshake.
func (s *suite) tlsVectors() {
	s.open(tlsFile, "What a peer shows in the TLS handshake: protocol.md, chapter 11.1. The input is the DER of its X.509 certificate; \"with\" has the time of the handshake, in milliseconds, 8 bytes.")
	put := func(f fault, at uint64, der []byte) {
		v := s.vector("tls", "", f, der)
		v.With = map[string]vector.Bytes{"time": binary.BigEndian.AppendUint64(nil, at)}
		s.add(tlsFile, v)
	}
	certificate := sign(certificatePayload(ada), "certificate", firstCA)
	good := x509Of(ada, octets(certificate.raw))
	noon, expires := noonMillis, noonMillis+90*day*1000
	put(ok("good", "Ada's", "T-3"), noon, good)
	put(ok("last-millisecond", "in the last millisecond of its validity", "O-6"), expires-1, good)
	put(ok("bit", "one bit of the X.509 signature is another: it is ignored", "T-3"), noon, flip(good, len(good)-1, 0))
	no := func(slug, about, outcome, cause string, der []byte) {
		put(fault{slug: slug, about: about, req: "T-4", outcome: outcome, cause: cause}, noon, der)
	}
	put(fault{slug: "expired", about: "in the second in which its validity has ended", req: "T-4", outcome: "transport.ErrExpired"}, expires, good)
	put(fault{slug: "not-yet", about: "a millisecond before its validity begins", req: "T-4", outcome: "transport.ErrNotYetValid"}, noon-1, good)
	no("none", "no certificate", "transport.ErrNoCertificate", "", nil)
	no("no-extension", "an X.509 certificate without a member certificate", "transport.ErrNotMember", "", x509Of(ada))
	no("other-key", "Ada's member certificate, shown by Ben", "transport.ErrKeyMismatch", "", x509Of(ben, octets(certificate.raw)))
	no("signature", "a member certificate whose signature is one of Ada's own", "transport.ErrCertificate", "signature.ErrMismatch",
		x509Of(ada, octets(signing{payload: certificate.payload, kind: "certificate", version: 1, group: groupID, keyID: firstCA.id, by: ada}.seal().raw)))
	no("unknown-authority", "a member certificate of a CA that is not known", "transport.ErrOtherGroup", "certificate.ErrUnknownCA",
		x509Of(ada, octets(sign(certificatePayload(ada), "certificate", unknownCA).raw)))
	no("other-group", "a member certificate of another group", "transport.ErrOtherGroup", "certificate.ErrGroup",
		x509Of(ada, octets(sign(with(certificatePayload(ada), bstr(otherGroup), claimGroup), "certificate", firstCA).raw)))
	put(fault{slug: "gate", about: "the certificate of a gate", req: "O-24", outcome: "transport.ErrCertificate", cause: "certificate.ErrRole"}.malicious(),
		noon, x509Of(ada, octets(sign(gatePayload(ada), "certificate", firstCA).raw)))
	no("truncated", "a member certificate that is cut", "transport.ErrCertificate", "envelope.ErrTruncated", x509Of(ada, octets(certificate.raw[:100])))
	no("leave", "something else in its place", "transport.ErrCertificate", "", x509Of(ada, octets(sign(leavePayload(ada), "leave", ada).raw)))
	no("not-octets", "an extension that is no OCTET STRING", "transport.ErrCertificate", "", x509Of(ada, []byte{0x05, 0x00}))
	no("trailing", "a byte behind the OCTET STRING", "transport.ErrCertificate", "", x509Of(ada, append(octets(certificate.raw), 0)))
	no("too-large", "an extension of more than 4096 bytes", "transport.ErrCertificate", "", x509Of(ada, octets(make([]byte, 4096))))
}
