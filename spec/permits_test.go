package spec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
	"github.com/wandertoken/wander/protocol/token"
)

// walked is Ada's title at hop 3, with the one before it, which Cleo has declined.
func walked(t *testing.T) (title, before token.Title) {
	w := newWalk(t, nil, noExtension)
	return token.Title{Genesis: w.genesis, Transfer: w.third}, token.Title{Genesis: w.genesis, Transfer: w.second, Void: w.void}
}

// permitOf is Ada's permit.
func permitOf(t *testing.T) []byte {
	title, before := walked(t)
	f := permit.New(groupID, title, before, func(m ident.Member) []byte {
		for _, p := range []party{ada, ben, cleo} {
			if p.id == m {
				return memberCertificate(t, p, noExtension).Raw()
			}
		}
		return nil
	})
	raw, err := f.Encode()
	require.NoError(t, err)
	return raw
}

// permitStatement is Ada's statement to a gate.
func permitStatement(t *testing.T, e canonical.Extensions) permit.Statement {
	title, _ := walked(t)
	b := permit.StatementOf(title)
	b.Gate, b.Exporter = [envelope.KeyIDSize]byte{8}, [permit.ExporterSize]byte{9}
	b.Number, b.Configuration, b.Length, b.Extensions = 1, 7, 4000, e
	s, err := b.Sign(groupID, ada.key)
	require.NoError(t, err)
	return s
}
