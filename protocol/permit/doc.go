// Package permit names the holder of a token and shows by whose signatures: what a member shows to a
// gate beside the resource, and what a program may keep. It does not show that the holder took the
// token: the sender can leave out the void by which the receiver declined.
//
// A permit has what a TRANSFER carries: the genesis, the transfer that names the holder, the void by
// which the token came back if it did, the transfer before it, and the certificates of all who signed
// these. Whoever knows the group's CA keys can check it, and asks nobody. It is no bearer credential: it
// holds no secret, everyone on the token's way can build it, and it says nothing of what came afterwards.
//
//	genesis ── … ── previous ── transfer              the holder is whom the transfer names
//	                         └─ transfer, voided      the holder is who made the transfer
//	genesis                                           the holder is the generator (hop 0)
//
// To use it at a gate its holder signs a Statement besides, which names the gate's key, the TLS
// connection (its exporter value) and a number within that connection. So nothing can be relayed or
// replayed, and no extra round trip is needed.
//
// # Types
//
//	Form           the bytes, verified or not   ── Verify ──▶ Permit
//	StatementBody  ── Sign ──▶ Statement        ◀── Permit.Statement ── bytes
//	                                            ◀── ParseStatement ── bytes, whatever they are about
//
// A Form comes from New, from Decode (bytes) or from ParseText (a file). Only Verify makes a Permit.
//
// # What a gate reads of a permit
//
//	Permit.Title      token, hop and holder, with the transfer that led there: who offered it, by what signature
//	Permit.Before     the title from which that transfer follows; the zero value at hop 0
//	Permit.Follows    a transfer of this permit gives that title away, signed by that title's holder
//	Permit.Declines   this permit has the void by which that title's holder declined its custody
//
// By Follows a gate knows the linked successor of an open session (rule G-1). By Follows and Declines it
// knows that a presenter's title is stale by the presenter's own signature (rule G-2). Both compare
// hashes with a title that the gate has verified itself; hops order nothing between titles of different
// members.
//
// # What Verify does not judge
//
// Whether the token was passed on since, whether a second token lives, how old the genesis is, how long a
// session may last, and whether a configuration is the newest. A signer's certificate may have expired: what
// was signed while it was valid stays. The holder's may not.
//
// # What holds
//
// Everything is decoded strictly, within limits: a form has at most maxForm bytes. The certificates are those of
// the signers, each once, in their order, so that a permit has one encoding for what it contains. Nothing
// here reads a clock. A Permit and a Statement are immutable and safe for concurrent use.
package permit
