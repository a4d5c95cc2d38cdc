package fuzz

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readers is every exported function that reads what others have written, with the
// target that fuzzes it, as package/target, or -, and why there is none. A new
// one fails TestReaders_Each_HasATarget until it stands here.
var readers = map[string]string{
	"crypto/canonical.Check":                       "fuzz/FuzzCanonical",
	"crypto/canonical.Unmarshal":                   "fuzz/FuzzCanonical",
	"crypto/canonical.Extensions.UnmarshalCBOR":    "fuzz/FuzzGenesis",
	"crypto/envelope.Batch.Verify":                 "fuzz/FuzzDirectory",
	"crypto/envelope.Parse":                        "fuzz/FuzzEnvelope",
	"crypto/keyfile.DecodeBlocks":                  "fuzz/FuzzBlocks",
	"crypto/keyfile.DecodePrivateKey":              "fuzz/FuzzPrivateKey",
	"crypto/keyfile.DecodePublicKey":               "fuzz/FuzzText",
	"crypto/signature.Batch.Verify":                "fuzz/FuzzSignature",
	"crypto/signature.ParsePublicKey":              "fuzz/FuzzEd25519",
	"crypto/signature.PublicKey.Verify":            "fuzz/FuzzEd25519",
	"internal/halfopen.Socket.ReadFrom":            "- it hands a packet to quic-go, and no daemon contains it",
	"internal/memnet.Socket.ReadFrom":              "- the same",
	"protocol/audit.Extract":                       "fuzz/FuzzAudit",
	"protocol/audit.Trust.HasResource":             "- it compares a name with those of configurations that Learn has taken in",
	"protocol/audit.Trust.Learn":                   "fuzz/FuzzAudit",
	"protocol/certificate.CheckAddress":            "fuzz/FuzzText",
	"protocol/certificate.Parse":                   "fuzz/FuzzCertificate",
	"protocol/certificate.ParseAny":                "fuzz/FuzzCertificate",
	"protocol/certificate.ParseGate":               "fuzz/FuzzCertificate",
	"protocol/certificate.Role.UnmarshalText":      "ca/FuzzLog",
	"protocol/certificate.Peek":                    "fuzz/FuzzCertificate",
	"protocol/certificate.Read":                    "fuzz/FuzzCertificate",
	"protocol/certificate.CheckName":               "fuzz/FuzzText",
	"protocol/certificate.ParseEndpoint":           "fuzz/FuzzEndpoint",
	"protocol/certificate.ReadEndpoint":            "fuzz/FuzzEndpoint",
	"protocol/certificate.ParseFailure":            "fuzz/FuzzFailure",
	"protocol/certificate.ReadFailure":             "fuzz/FuzzFailure",
	"protocol/certificate.PeekFailure":             "fuzz/FuzzFailure",
	"protocol/certificate.ParseLeave":              "fuzz/FuzzLeave",
	"protocol/certificate.ReadLeave":               "fuzz/FuzzLeave",
	"protocol/certificate.ParseRequest":            "fuzz/FuzzRequest",
	"protocol/certificate.CheckReason":             "fuzz/FuzzText",
	"protocol/certificate.ParseRevocation":         "fuzz/FuzzRevocation",
	"protocol/certificate.PeekRevocation":          "fuzz/FuzzRevocation",
	"protocol/directory.Directory.Recall":          "fuzz/FuzzMember",
	"protocol/directory.Directory.Learn":           "fuzz/FuzzMember",
	"protocol/directory.Directory.LearnSigner":     "fuzz/FuzzMember",
	"protocol/directory.Directory.LearnEndpoint":   "fuzz/FuzzDirectory",
	"protocol/directory.Directory.LearnFailure":    "fuzz/FuzzDirectory",
	"protocol/directory.Register.HasFailure":       "fuzz/FuzzMember",
	"protocol/directory.Directory.Has":             "fuzz/FuzzMember",
	"protocol/directory.Directory.LearnPage":       "fuzz/FuzzDirectory",
	"protocol/directory.Directory.LearnLeave":      "fuzz/FuzzDirectory",
	"protocol/directory.Directory.LearnRevocation": "fuzz/FuzzDirectory",
	"protocol/evidence.Parse":                      "fuzz/FuzzEvidence",
	"protocol/evidence.ParseText":                  "fuzz/FuzzEvidence",
	"protocol/gate/wire.Decode":                    "fuzz/FuzzGateFrame",
	"protocol/gate/wire.ParseAnswer":               "fuzz/FuzzGateFrame",
	"protocol/gate/wire.Read":                      "fuzz/FuzzGateFrame",
	"protocol/gate/wire.ReadAnswer":                "fuzz/FuzzGateFrame",
	"protocol/gate/wire.ReadConnect":               "fuzz/FuzzGateFrame",
	"protocol/gate.Decode":                         "fuzz/FuzzGateRecord",
	"protocol/group.ParseAuthority":                "fuzz/FuzzAuthority",
	"protocol/group.ParseConfig":                   "fuzz/FuzzConfiguration",
	"protocol/group.Load":                          "fuzz/FuzzGroupFile",
	"protocol/group.ParseChain":                    "fuzz/FuzzEvidence",
	"protocol/group.Group.Vouched":                 "node/transport/FuzzVouchers",
	"protocol/ident.CheckClass":                    "fuzz/FuzzText",
	"protocol/group.CheckName":                     "fuzz/FuzzText",
	"protocol/handoff.Sender.OnAccept":             "fuzz/FuzzHandoff",
	"protocol/handoff.Sender.OnRefuse":             "fuzz/FuzzHandoff",
	"protocol/handoff.Sender.OnNeed":               "fuzz/FuzzHandoff",
	"protocol/handoff.Receiver.OnOffer":            "fuzz/FuzzHandoff",
	"protocol/handoff.Receiver.OnCancel":           "fuzz/FuzzHandoff",
	"protocol/handoff.Receiver.OnTransfer":         "fuzz/FuzzHandoff",
	"protocol/handoff.Sender.OnAnswer":             "fuzz/FuzzHandoff",
	"protocol/ident.Grant.UnmarshalText":           "fuzz/FuzzAPI",
	"protocol/permit.Decode":                       "fuzz/FuzzPermit",
	"protocol/permit.ParseText":                    "fuzz/FuzzPermit",
	"protocol/permit.ParseStatement":               "fuzz/FuzzPermit",
	"protocol/window.Parse":                        "fuzz/FuzzWindow",
	"protocol/window.ParseZone":                    "fuzz/FuzzWindow",
	"protocol/policy.OnIsolated.UnmarshalText":     "- one of three words",
	"protocol/policy.Weights.UnmarshalText":        "cmd/wander/FuzzGroupFile",
	"protocol/group.GateMode.UnmarshalText":        "cmd/wander/FuzzGroupFile",
	"protocol/policy.SilentHolder.UnmarshalText":   "- one of two words",
	"protocol/policy.Ratio.UnmarshalText":          "cmd/wander/FuzzGroupFile",
	"protocol/ident.Hash.UnmarshalText":            "fuzz/FuzzText",
	"protocol/ident.Token.UnmarshalText":           "fuzz/FuzzText",
	"protocol/ident.Group.UnmarshalText":           "fuzz/FuzzText",
	"protocol/ident.Member.UnmarshalText":          "fuzz/FuzzText",
	"protocol/ident.Incarnation.UnmarshalText":     "fuzz/FuzzText",
	"protocol/invite.Parse":                        "fuzz/FuzzInvite",
	"protocol/journal.Decode":                      "fuzz/FuzzRecord",
	"protocol/journal.ParseSegmentHeader":          "fuzz/FuzzSegment",
	"protocol/journal.ParseSegmentName":            "fuzz/FuzzText",
	"protocol/member.Restore":                      "fuzz/FuzzMember",
	"protocol/policy/catalog.Check":                "fuzz/FuzzConfiguration",
	"protocol/policy/ring.ParseAlgorithm":          "fuzz/FuzzText",
	"protocol/policy/ring.ParseBaton":              "fuzz/FuzzText",
	"protocol/policy/keeper.CheckBody":             "fuzz/FuzzPolicy",
	"protocol/policy/quorum.CheckBody":             "fuzz/FuzzPolicy",
	"protocol/policy/ring.CheckBody":               "fuzz/FuzzPolicy",
	"protocol/policy/wandering.CheckBody":          "fuzz/FuzzPolicy",
	"protocol/policy/wandering.CheckField":         "fuzz/FuzzPolicy",
	"protocol/token.Open":                          "fuzz/FuzzTokenObject",
	"protocol/token.PeekGenesis":                   "fuzz/FuzzTokenObject",
	"protocol/token.PeekTransfer":                  "fuzz/FuzzTokenObject",
	"protocol/token.PeekAnswer":                    "fuzz/FuzzTokenObject",
	"protocol/token.PeekComplaint":                 "fuzz/FuzzTokenObject",
	"protocol/update.Parse":                        "fuzz/FuzzUpdate",
	"protocol/wire.ReadFrame":                      "fuzz/FuzzFrame",
	"protocol/wire.Decode":                         "fuzz/FuzzMessage",
	"protocol/wire.PeekType":                       "fuzz/FuzzMessage",
	"node/api.ParseAccess":                         "- two settings of the daemon's own file, compared with a few words",
	"node/api.ParseHeld":                           "- a variable of the program's own environment, compared with one form",
	"node/enrolment.Decode":                        "fuzz/FuzzEnrolment",
	"node.LoadCertificate":                         "- files of the operator, read with FuzzBlocks, FuzzCertificate and FuzzGroupFile",
	"node.LoadIdentity":                            "- files of the operator, read with FuzzBlocks, FuzzPrivateKey, FuzzCertificate and FuzzGroupFile",
	"node.ReadLastWord":                            "- the daemon's own file, 512 bytes at most, read by encoding/json into three fields that are only shown",
	"node/store/faultfs.FS.ReadFile":               "- a file system for tests",
	"node/store/faultfs.FS.Open":                   "- a file system for tests",
	"node/store.Open":                              "fuzz/FuzzJournal",
	"node/transport.CheckPreamble":                 "node/transport/FuzzPreamble",
	"node/transport.Identify":                      "node/transport/FuzzTLSCertificate",
	"node/transport.IdentifyAny":                   "node/transport/FuzzTLSCertificate",
	"ca.Open":                                      "ca/FuzzLog",
	"ca.Authority.Parse":                           "ca/service/FuzzService",
	"ca.InviteID.UnmarshalText":                    "ca/FuzzLog",
	"ca.Authority.Left":                            "ca/service/FuzzService",
	"internal/credential.CheckMode":                "- it compares a path and a mode, and reads nothing",
	"internal/cddl.Decode":                         "fuzz/FuzzDeterministic",
	"internal/cddl.Schema.Check":                   "- only tests use it, on what FuzzDeterministic has checked",
	"internal/cddl.Parse":                          "- reads the schemas of the specification only",
	"internal/configfile.Decode":                   "internal/configfile/FuzzDecode",
	"protocol/duration.Parse":                      "fuzz/FuzzText",
}

// readerNames are those of functions that read, and readerTypes those of parameters
// with what others have written.
var (
	readerNames = regexp.MustCompile(`^(Check(Tagged)?|Decode|Extract|Has|Identify|Learn|Load|On|Open|Parse|Peek|Read|Recall|Restore|Unmarshal|Verify|Vouched|Left)([A-Z]\w*)?$`)
	readerTypes = regexp.MustCompile(`^(\[\](\[\])?byte|string|io\.Reader|json\.RawMessage|\[\]keyfile\.Block|\[\]Block|Block|keyfile\.Block|\[\]wire\.Entry|\*wire\.\w+|\[\]journal\.Stamped|\[\]\*x509\.Certificate)$`)
)

// foundReaders parses the packages for readers.
func foundReaders(t *testing.T) (names []string) {
	root := os.DirFS("..")
	for _, folder := range []string{"crypto", "protocol", "node", "ca", "internal"} {
		require.NoError(t, fs.WalkDir(root, folder, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			names = append(names, readersIn(t, root, file)...)
			return nil
		}))
	}
	return names
}

func readersIn(t *testing.T, root fs.FS, file string) (names []string) {
	text, err := fs.ReadFile(root, file)
	require.NoError(t, err)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || !readerNames.MatchString(f.Name.Name) || !takesForeign(f) {
			continue
		}
		name := path.Dir(file) + "."
		if f.Recv != nil {
			of := strings.TrimLeft(types.ExprString(f.Recv.List[0].Type), "*")
			if !ast.IsExported(of) {
				continue
			}
			name += of + "."
		}
		names = append(names, name+f.Name.Name)
	}
	return names
}

func takesForeign(f *ast.FuncDecl) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool { return readerTypes.MatchString(types.ExprString(p.Type)) })
}

// allTargets is the fuzz functions of the module, as package/target.
func allTargets(t *testing.T) map[string]bool {
	found := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)
	require.NoError(t, fs.WalkDir(os.DirFS(".."), ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), file)
		for _, f := range function.FindAllSubmatch(text, -1) {
			found[path.Dir(file)+"/"+string(f[1])] = true
		}
		return err
	}))
	return found
}

func TestReaders_Each_HasATarget(t *testing.T) {
	targets := allTargets(t)
	found := foundReaders(t)
	for _, name := range found {
		target := readers[name]
		if assert.NotEmpty(t, target, "%s reads what others have written: name its fuzz target in the list, or say why there is none", name) &&
			!strings.HasPrefix(target, "- ") {
			assert.True(t, targets[target], "%s: there is no target %s", name, target)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(readers)) {
		assert.Contains(t, found, name, "a reader in the list that is not there any more")
	}
}
