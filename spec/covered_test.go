package spec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// covered says which tests hold the code to the requirements about membership:
// the folder, then the names. A requirement may have tests beside these.
var covered = map[string]string{
	"M-1":  "node/transport TestWhatConnectedSendsGoesFirst",
	"M-2":  "protocol/member TestWhatPeersMayNotSay",
	"M-3":  "protocol/member TestWhatPeersMayNotSay",
	"M-4":  "protocol/member TestFailedMemberIsTold",
	"M-5":  "protocol/wire TestRefusedMessages",
	"M-6":  "spec TestEveryPeerIsRationed; protocol/member TestQuestionsAreAnswered",
	"M-7":  "spec TestComparison; protocol/directory TestRevocationsInPages",
	"M-8":  "spec TestEveryPeerIsRationed; protocol/member TestFloodOfGreetings",
	"M-9":  "protocol/member TestMembersThatNobodyAskedFor",
	"M-10": "spec TestMalformedUpdateEndsTheList",
	"M-11": "protocol/update TestEachUpdateIsToldSoOften TestNewestFirstThenLeastTold TestTheEndOfAMember TestFullList",
	"M-12": "protocol/member TestReceiptDoesNotEcho; protocol/update TestBytesOfAMessage",
	"M-13": "spec TestSummaryOutOfRange",
	"M-14": "spec TestGossipIsAnsweredOnce TestEveryPeerIsRationed",
	"M-15": "spec TestWhoIsAskedToProbe TestEveryPeerIsRationed",
	"M-16": "spec TestEveryPeerIsRationed",
	"M-17": "protocol/member TestAskedSnapshotsOfALiarAreBoundedWork",
	"M-18": "spec TestEveryPeerIsRationed",

	"D-1":  "protocol/directory TestPropertyLearningCommutesAndIsIdempotent TestPropertyMergingIsAssociative TestPropertyNewsMeansChange",
	"D-2":  "protocol/directory TestRefusedObjects TestRefusedFailures TestRefusedLeaves",
	"D-3":  "protocol/directory TestKeysOfTheDeadRemain TestForget",
	"D-4":  "protocol/directory TestStatusOrder TestOnlyTheSampleIsDrawn",
	"D-5":  "protocol/directory TestChoiceIsUniform TestSharesAreEqual TestSharesBeyondHalf TestChooseFollowsItsRow TestWalkIsFair TestSpareIsTheLast",
	"D-6":  "protocol/directory TestRevocationVersionStopsAtAGap TestPropertyAskingAboveOnesVersionMissesNone",
	"D-7":  "protocol/member TestRevokedPeerIsExpelledAndOthersAreTold TestRevokedMemberEnds",
	"D-8":  "protocol/member TestNewerConfigurationIsAdoptedAndPassedOn",
	"D-9":  "node/transport TestRevokedMemberIsToldAndClosed TestRevokedMemberIsClosedOnAnOpenConnection",
	"D-10": "protocol/directory TestFullDirectory TestLimitAndThoseWhoAreGone",
	"D-11": "protocol/member TestDialsOutAttaches; protocol/directory TestPickAttachmentEvensOutTheLoads",
	"D-12": "protocol/directory TestPropertySampleIgnoresOrderAndRepetition TestSlotsAreUniform TestOnlyTheSampleIsDrawn TestFingerprintOfASample",
	"D-13": "protocol/directory TestJoinOrder TestPropertyJoinCommutesAndIsIdempotent TestPropertyJoinIsAssociative",
	"D-14": "protocol/directory TestAQuorumFailsAMember TestARevokedWitnessDoesNotCount TestWhoHasLeftIsNoWitness TestPermanentFailure TestPolicyHasEffectAtOnce",
	"D-15": "protocol/member TestFailedMemberRefutes",
	"D-16": "spec TestFingerprints; protocol/directory TestFingerprintIsAsSpecified TestFingerprintTellsEverythingApart",
	"D-17": "protocol/directory TestTheDeadAreNotOnAPage TestWordOfAWitnessThatIsOnNoPage TestFingerprintOfASample",
	"D-18": "protocol/directory TestPageOfEntriesThatLie TestPropertyPageIsItsObjectsOneByOne",
	"D-19": "protocol/directory TestForget TestForgottenCertificatesDoNotComeBack TestForgettingWithAWrongClockIsUndone TestForgetStatements",
	"D-20": "spec TestBehind; protocol/directory TestExpectedVersions",
	"D-21": "protocol/directory TestForgetRevocations; ca TestRevocationFloor TestRevocationFloorWaitsForLongCertificates",
	"D-23": "protocol/member TestJoinTravelsOnTokens TestQuorumIsEnough",
	"D-24": "protocol/member TestFailedMemberRefutes TestLeave",
	"D-26": "spec TestComparison; protocol/directory TestPropertyDirectoriesConvergeByRanges",
	"D-27": "spec TestJoined",
	"D-28": "spec TestVersionsAreCompared; protocol/member TestNewsIsAskedFor",
	"D-29": "protocol/member TestNewerConfigurationIsAdoptedAndPassedOn TestLowerConfigurationIsRefused; protocol/group TestUpdate TestVouched",
	"D-30": "protocol/member TestForgeriesChangeNothing TestOldEndpointRecordIsNotBelieved",
	"D-31": "spec TestFaultsAreBounded; protocol/member TestForgeriesOfAllKindsAreRationed",
	"D-32": "spec TestOnlySilenceIsNoAnswer",
	"D-33": "protocol/member TestProbeSuspectState",
	"D-34": "protocol/member TestProbeSuspectState TestCutOffMemberStatesNothing TestOneWitnessFailsNobody",
	"D-35": "spec TestOnlySilenceIsNoAnswer",
	"D-36": "protocol/member TestFailedMemberRefutes TestDialsOutAttaches TestRefutationsAreRationed",
	"D-37": "protocol/member TestOwnRecordIsOvertaken TestOwnRecordIsNotOvertakenForEver TestOwnRecordWithTheSameNumber",
	"D-39": "protocol/member TestRevokedMemberEnds TestLeave TestPermanentFailureIsForEver",
	"D-40": "protocol/member TestLeave; ca TestLeft",
	"D-41": "protocol/member TestRenewed; node/transport TestARenewedCertificateKeepsAConnection; ca TestRenew",
	"D-42": "protocol/member TestOwnCertificateRunsOut",
	"D-43": "node/transport TestARotationNeverSplitsTheGroup TestMemberLearnsTheNewKeyFromAPeer; ca TestRotationStepByStep",
	"D-45": "protocol/member TestSampleAsksForOnePage",
	"D-46": "protocol/directory TestRetiredKey TestRecall; protocol/member TestTokenOutlivesTheKeyOfItsSigners",
}

// testsOf are the tests in a folder.
func testsOf(t *testing.T, folder string) map[string]bool {
	found := make(map[string]bool)
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	require.NoError(t, err)
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = true
			}
		}
	}
	return found
}

// Every requirement about membership has a test.
func TestMembershipIsCovered(t *testing.T) {
	tests := make(map[string]map[string]bool)
	for id, places := range covered {
		for place := range strings.SplitSeq(places, "; ") {
			folder, names, _ := strings.Cut(place, " ")
			if tests[folder] == nil {
				tests[folder] = testsOf(t, folder)
			}
			for name := range strings.FieldsSeq(names) {
				assert.True(t, tests[folder][name], "%s: there is no %s in %s", id, name, folder)
			}
		}
	}
	given := make(map[string]bool)
	raw, err := os.ReadFile("protocol.md")
	require.NoError(t, err)
	for p := range strings.SplitSeq(string(raw), "\n\n") {
		m := requirement.FindStringSubmatch(p)
		if m == nil || m[1][0] != 'M' && m[1][0] != 'D' {
			continue
		}
		given[m[1]] = true
		if strings.Contains(p, "MUST") {
			assert.NotEmpty(t, covered[m[1]], "%s has no test", m[1])
		}
	}
	for id := range covered {
		assert.True(t, given[id], "%s is not given", id)
	}
}
