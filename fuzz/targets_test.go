package fuzz

import "github.com/wandertoken/wander/fuzz/corpus"

// targets is every fuzz target of this package. TestSeeds sees that none is
// missing. It is filled in by init because the fuzz functions, too, look into
// it.
var targets map[string]corpus.Target

func init() {
	targets = map[string]corpus.Target{
		"FuzzMessage":       {Check: checkMessage, Seeds: messageSeeds, More: vectorsOf(input, "message")},
		"FuzzUpdate":        {Check: checkUpdate, Seeds: updateSeeds, More: vectorsOf(input, "update")},
		"FuzzFrame":         {Check: checkFrame, Seeds: frameSeeds, More: vectorsOf(input, "frame")},
		"FuzzCanonical":     {Check: checkCanonical, Seeds: canonicalSeeds, More: vectorsOf(input, "cbor")},
		"FuzzEnvelope":      {Check: checkEnvelope, Seeds: envelopeSeeds, More: vectorsOf(input, "transfer", "certificate")},
		"FuzzSignature":     {Check: checkSignature, Seeds: signatureSeeds, More: vectorsOf(keySignatureMessage, "signature")},
		"FuzzGenesis":       {Check: checkGenesis, Seeds: genesisSeeds, More: vectorsOf(payload, "genesis")},
		"FuzzTransfer":      {Check: checkTransfer, Seeds: transferSeeds, More: vectorsOf(payload, "transfer")},
		"FuzzAnswer":        {Check: checkAnswer, Seeds: answerSeeds, More: vectorsOf(numbered("receipt", "void", "unknown"), "receipt", "void", "unknown")},
		"FuzzComplaint":     {Check: checkComplaint, Seeds: complaintSeeds, More: vectorsOf(payload, "complaint")},
		"FuzzTokenObject":   {Check: checkTokenObject, Seeds: tokenObjectSeeds, More: vectorsOf(input, "genesis", "transfer", "receipt", "void", "unknown", "complaint")},
		"FuzzCertificate":   {Check: checkCertificate, Seeds: certificateSeeds, More: vectorsOf(payload, "certificate")},
		"FuzzEndpoint":      {Check: checkEndpoint, Seeds: endpointSeeds, More: vectorsOf(payload, "endpoint")},
		"FuzzRevocation":    {Check: checkRevocation, Seeds: revocationSeeds, More: vectorsOf(payload, "revocation")},
		"FuzzLeave":         {Check: checkLeave, Seeds: leaveSeeds, More: vectorsOf(payload, "leave")},
		"FuzzFailure":       {Check: checkFailure, Seeds: failureSeeds, More: vectorsOf(payload, "failure")},
		"FuzzRequest":       {Check: checkRequest, Seeds: requestSeeds, More: vectorsOf(payload, "request")},
		"FuzzConfiguration": {Check: checkConfiguration, Seeds: configurationSeeds, More: vectorsOf(payload, "configuration")},
		"FuzzAuthority":     {Check: checkAuthority, Seeds: authoritySeeds, More: vectorsOf(payload, "authority")},
		"FuzzGroupFile":     {Check: checkGroupFile, Seeds: groupFileSeeds},
		"FuzzBlocks":        {Check: checkBlocks, Seeds: blocksSeeds},
		"FuzzPrivateKey":    {Check: checkPrivateKey, Seeds: privateKeySeeds},
		"FuzzRecord":        {Check: checkRecord, Seeds: recordSeeds, More: vectorsOf(input, "record")},
		"FuzzGateRecord":    {Check: checkGateRecord, Seeds: gateRecordSeeds},
		"FuzzGateFrame":     {Check: checkGateFrame, Seeds: gateFrameSeeds},
		"FuzzSegment":       {Check: checkSegment, Seeds: segmentSeeds, More: vectorsOf(input, "segment")},
		"FuzzWindow":        {Check: checkWindow, Seeds: windowSeeds},
		"FuzzInvite":        {Check: checkInvite, Seeds: inviteSeeds, More: vectorsOf(input, "invite")},
		"FuzzEnrolment":     {Check: checkEnrolment, Seeds: enrolmentSeeds, More: vectorsOf(numbered(enrolmentObjects...), enrolmentObjects...)},
		"FuzzEvidence":      {Check: checkEvidence, Seeds: evidenceSeeds},
		"FuzzPermit":        {Check: checkPermit, Seeds: permitSeeds, More: vectorsOf(numbered("permit"), "permit")},
		"FuzzPolicy":        {Check: checkPolicy, Seeds: policySeeds},
		"FuzzHandoff":       {Check: checkHandoff, Seeds: handoffSeeds},
		"FuzzDirectory":     {Check: checkDirectory, Seeds: directorySeeds},
		"FuzzDeterministic": {Check: checkDeterministic, Seeds: deterministicSeeds, More: vectorsOf(input, "cbor", "certificate", "configuration", "record")},
		"FuzzEd25519":       {Check: checkEd25519, Seeds: ed25519Seeds},
		"FuzzMember":        {Check: checkMember, Seeds: memberSeeds},
		"FuzzAPI":           {Check: checkAPI, Seeds: apiSeeds},
		"FuzzJournal":       {Check: checkJournal, Seeds: journalSeeds},
		"FuzzText":          {Check: checkText, Seeds: textSeeds},
		"FuzzAudit":         {Check: checkAudit, Seeds: auditSeeds},
		"FuzzUpdateList":    {Check: checkUpdateList, Seeds: updateListSeeds},
	}
}
