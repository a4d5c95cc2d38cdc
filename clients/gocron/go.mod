module github.com/wandertoken/wander/clients/gocron

go 1.26.8

require (
	github.com/go-co-op/gocron/v2 v2.21.2
	github.com/wandertoken/wander v0.0.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/wandertoken/wander => ../..
