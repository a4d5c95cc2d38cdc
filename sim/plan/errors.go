package plan

import "errors"

// What is wrong with a Request, beside the errors of catalog.Check and group.CheckWindows.
var (
	ErrMembers = errors.New("members out of range")
	ErrSeeds   = errors.New("seeds out of range")
	ErrLoss    = errors.New("loss out of range")
	ErrSpan    = errors.New("time span out of range")
	ErrWeights = errors.New("weights out of range")
	ErrTarget  = errors.New("the policy needs a target interval")
	ErrBegin   = errors.New("begin out of range")
)
