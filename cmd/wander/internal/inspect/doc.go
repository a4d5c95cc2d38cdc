// Package inspect shows any object of the project in readable form: keys and
// certificates in PEM, signed objects, messages, journals. It verifies all that the
// group at hand permits, and says of each object whether it was verified.
//
//	$ wander inspect --group group.crt member.crt
//	certificate of member 555f2c35bf8b2762379d3806e23a8711 (verified)
//	  name: m01
//	  serial: 1
//	  not_before: 2026-11-27T11:31:19Z
//	  ...
//
// `wander inspect` is its one caller:
//
//	i := inspect.New(group)                       // nil: nothing is verified
//	for o, err := range i.Objects(name, data) {   // or i.Journal(folder)
//		text = o.AppendText(text)             // or AppendJSON
//	}
//
// # How an input is recognised
//
//	Objects
//	 ├ "-----BEGIN WANDER" near the beginning      blocks    each block, by its label and then by its bytes
//	 ├ the name or the header of a segment         segment   its header, then frame after frame
//	 └ anything else                               single    one signed object, one message, or framed
//	                                                         messages to the end
//	Journal     a folder: all its segments, without the copies that checkpoints hold
//
// An error ends the sequence; what came before it is good. ErrUnknown says that the input is nothing of the project.
//
// # How a signed object is recognised
//
// The bytes of a signed object do not say of which kind it is: the kind is part of what is signed. So signed tries
// each kind that its payload can be (ofTokens, byAuthority, byMembers), and the one whose signature verifies is the right one:
//
//	at hand                           what is shown              Verified
//	a group, and a key verifies it    its kind                   "yes"
//	a group, and no key does          its shape, if only one     "no key at hand verifies it"
//	                                  kind has it
//	no group                          the same                   "no group file was given"
//	no group, in a group file         its kind                   it agrees with itself (onlyItself)
//
// An object of no known shape is shown in diagnostic notation (unknown).
//
// # The types
//
//	Inspector  the group, and the keys of members whose certificates have been shown so far (Learn)
//	Object     one thing: its name (What), Verified ("yes", or why not), and its Fields
//	Fields     named values in the order in which they are in the object
//
// structure turns any Go value into Fields by reflection: a new field of a message, a record or a body is shown
// without a line here. It opens byte strings that are signed objects, so a TRANSFER shows the transfer in it.
//
// # What holds
//
// Secrets are named and never shown. Text that would speak to a terminal is quoted (printable). An input has
// at most MaxInput bytes. Verified means that the signature is right by the group's keys, retired ones among
// them; it says nothing about validity today, or about custody. Certificates come before what they verify: an
// object of a member whose certificate comes more than framesAtOnce frames later in the input is shown as not verified.
//
// # What belongs elsewhere
//
// Comparing journals is for `wander audit`. Reading and verifying is for the packages of the objects: nothing
// is decoded here that they do not decode. A new signed kind is an entry in one of those three; a new block of
// PEM a case in blocks; words for numbers are a type like complaint.
//
// An Inspector learns while it shows, and is not safe for concurrent use. It decodes the frames of a journal and learns from them one after
// the other, and shows framesAtOnce of them on all processors.
package inspect
