// Package auditing runs an audit of journals on disk: it finds the segments,
// reads them for package protocol/audit, writes evidence, and shows the report as
// text for an operator or as JSON. `wander audit` is its one caller.
//
//	a, err := auditing.Run(auditing.Input{Paths: []string{"journals"}, Group: group, Extra: extra})
//	files, err := a.WriteEvidence("evidence")     // one file for each proof
//	err = a.View(files).Text(os.Stdout)           // or the View as JSON
//
// A clean group of three members gives:
//
//	verdict     clean: no rule was broken, as far as these journals show
//	read        journals of 3 members, 0 missing; 116 records, 34 signatures verified
//	tokens      held 1
//
//	MEMBER  ID        JOURNAL                                     CUSTODIES  OPERATIONS  HELD   FINDINGS
//	m01     555f2c35  2026-11-27T12:31:19 to 2026-11-27T12:31:23  6          6           1.5 s  0
//	...
//
// # The walk of a segment
//
//	paths
//	  find          every file with the name of a segment, at any depth; look reads its header only
//	  readableOnly  without those of other versions of the format, which become notes
//	  sort          by member, in order: a lineage is one journal of one member; copies aside
//	  survey        first reading: certificates, CA keys and revocations, into audit.Trust
//	  Trust.Settle
//	  readJournal   second reading: each frame into an audit.Reader
//	    noteGap       segments that are missing
//	    readSegment   a torn tail is a note, damage a finding
//	    compare       copies that are not the beginning of what was read: a finding (audit.Diverged)
//	  books.Report
//
// Everything is read twice, since an object can be verified with a certificate that is in a later journal. Segments are
// read one after the other, and are not kept.
//
// # The types
//
//	Input    what is to be audited, with Progress for a person who waits
//	Audit    the report, the trust it rests on, notes, and where each record is
//	View     the report with names, times and file names: what is shown, and the JSON with its version
//	segment  one file: its header, its damage, its copies
//	lineage  one journal of one member; a journal that begins again at segment 1 is another one
//	source   a lineage with the first sequence number of each segment, so that a RecordRef leads to a file
//
// WriteEvidence reads the exhibits of each proof again, from the segments that have them, and makes evidence of
// them (package protocol/evidence). A file has the same name and contents whoever audits the same two objects.
//
// # What is believed of the files
//
// Nothing. A journal may be meant to stop the audit: a pipe or a device with the name of a segment is not
// opened, and a file above maxSegment is not read; both are damage, and an error only where such a path was
// given itself (Check). A segment without a readable header belongs to whom its siblings in the folder belong
// to (owners), so that its damage has an owner. Text from a journal cannot speak to the terminal (clean).
// Members may go on writing meanwhile: the last frame of a segment may be unfinished.
//
// # What belongs elsewhere
//
// Package protocol/audit, which is pure, decides what is a finding and whether it is proved. Flags, the group
// file and the exit codes are in cmd/wander/audit.go. A new figure of the report is a field of a View (a
// change of its meaning raises V), its line in text.go, and its description in docs/audit.md.
//
// An Audit is not safe for concurrent use. Run itself verifies on all processors (parallel).
package auditing
