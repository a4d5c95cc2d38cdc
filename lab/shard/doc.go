// Package shard splits a job of many seeded runs into parts that machines do apart, and puts the parts together.
//
// A part does its share of the runs and writes what they gave to one file in a folder. A merge reads the files of all parts, and
// then does the job with these results in the place of the runs. So it prints and writes what the whole job would have.
//
//	part, err := shard.Parse("3/8", os.Getenv)
//	part.Has(k)                                 // whether run k is this part's
//	err = shard.Write(dir, job, part, records)  // dir/shard-3-of-8.jsonl: whole or not at all
//	set, err := shard.Read(dir)                 // of all parts, of one job and one program
//
// # The file
//
// A line of JSON with the job and the part, one line for each run, and one that counts them. A merge refuses a file without its
// last line, such as a copy that was cut short.
//
// # What belongs elsewhere
//
// The result of a run is bytes here. lab/experiment has the form of its values, and cmd/wander-lab the arguments of jobs.
package shard
