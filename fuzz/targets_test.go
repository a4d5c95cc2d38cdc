package fuzz

import "github.com/wandertoken/wander/fuzz/corpus"

// targets is every fuzz target of this package. TestSeeds sees that none is
// missing. It is filled in by init because the fuzz functions, too, look into
// it.
var targets map[string]corpus.Target

func init() {
	targets = map[string]corpus.Target{
		"FuzzMessage":       {Check: checkMessage, Seeds: messageSeeds},
		"FuzzUpdate":        {Check: checkUpdate, Seeds: updateSeeds},
		"FuzzFrame":         {Check: checkFrame, Seeds: frameSeeds},
		"FuzzCanonical":     {Check: checkCanonical, Seeds: canonicalSeeds},
		"FuzzEnvelope":      {Check: checkEnvelope, Seeds: envelopeSeeds},
		"FuzzSignature":     {Check: checkSignature, Seeds: signatureSeeds},
		"FuzzGenesis":       {Check: checkGenesis, Seeds: genesisSeeds},
		"FuzzTransfer":      {Check: checkTransfer, Seeds: transferSeeds},
		"FuzzAnswer":        {Check: checkAnswer, Seeds: answerSeeds},
		"FuzzTokenObject":   {Check: checkTokenObject, Seeds: tokenObjectSeeds},
		"FuzzCertificate":   {Check: checkCertificate, Seeds: certificateSeeds},
		"FuzzEndpoint":      {Check: checkEndpoint, Seeds: endpointSeeds},
		"FuzzRevocation":    {Check: checkRevocation, Seeds: revocationSeeds},
		"FuzzLeave":         {Check: checkLeave, Seeds: leaveSeeds},
		"FuzzFailure":       {Check: checkFailure, Seeds: failureSeeds},
		"FuzzRequest":       {Check: checkRequest, Seeds: requestSeeds},
		"FuzzConfiguration": {Check: checkConfiguration, Seeds: configurationSeeds},
		"FuzzAuthority":     {Check: checkAuthority, Seeds: authoritySeeds},
		"FuzzGroupFile":     {Check: checkGroupFile, Seeds: groupFileSeeds},
		"FuzzBlocks":        {Check: checkBlocks, Seeds: blocksSeeds},
		"FuzzPrivateKey":    {Check: checkPrivateKey, Seeds: privateKeySeeds},
		"FuzzRecord":        {Check: checkRecord, Seeds: recordSeeds},
		"FuzzSegment":       {Check: checkSegment, Seeds: segmentSeeds},
		"FuzzInvite":        {Check: checkInvite, Seeds: inviteSeeds},
		"FuzzEnrolment":     {Check: checkEnrolment, Seeds: enrolmentSeeds},
		"FuzzEvidence":      {Check: checkEvidence, Seeds: evidenceSeeds},
		"FuzzPolicy":        {Check: checkPolicy, Seeds: policySeeds},
		"FuzzHandoff":       {Check: checkHandoff, Seeds: handoffSeeds},
		"FuzzDirectory":     {Check: checkDirectory, Seeds: directorySeeds},
		"FuzzDeterministic": {Check: checkDeterministic, Seeds: deterministicSeeds},
		"FuzzEd25519":       {Check: checkEd25519, Seeds: ed25519Seeds},
		"FuzzMember":        {Check: checkMember, Seeds: memberSeeds},
		"FuzzAPI":           {Check: checkAPI, Seeds: apiSeeds},
		"FuzzJournal":       {Check: checkJournal, Seeds: journalSeeds},
		"FuzzUpdateList":    {Check: checkUpdateList, Seeds: updateListSeeds},
	}
}
