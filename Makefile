# Everything a developer runs. `make` lists it.
.DEFAULT_GOAL := help
.PHONY: help run demo build test test-crash test-webhooks test-xrpl-public bench fuzz fuzz-nightly lint generate css clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' Makefile

run: ## serve an empty instance with data in ./data
	go run ./cmd/cointill

demo: ## serve a ready business with sample data
	go run ./cmd/cointill demo

build: ## build the static binary bin/cointill
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/cointill ./cmd/cointill

test: ## everything that must hold; installs what it needs
	@scripts/test

test-crash: ## kill -9 in the middle of 500 payments, again and again
	@scripts/prepare
	@scripts/with-postgres --durable scripts/end-to-end -v -run Crash -timeout 60m . -args -crash.rounds=10 -crash.payments=500

test-xrpl-public: ## the XRP adapter on a server: make test-xrpl-public SERVER=wss://… NETWORK=testnet
	go test -count=1 -run TestPublicServer -v ./chain/xrpl -args -xrpl.server=$(SERVER) -xrpl.network=$(NETWORK)

test-webhooks: ## 100,000 events to failing consumers while the program is killed again and again, on both databases
	@scripts/prepare
	@scripts/with-postgres --durable scripts/end-to-end -v -run Storm -timeout 6h . -args -storm.payments=24000 -storm.rate=40 -storm.consumers=2 -storm.patience=2h

bench: ## initiate and verify per second, beside bare SQL in the same run
	@scripts/prepare
	@scripts/with-postgres --durable go test -run '^$$' -bench . -timeout 60m ./...

fuzz: ## every fuzz target on 50,000 inputs
	@scripts/fuzz 50000

fuzz-nightly: ## every fuzz target on 2,000,000 inputs
	@scripts/fuzz 2000000

lint: ## gofmt, tidy go.mod, go vet, staticcheck
	@scripts/lint

generate: ## make the templ code and the stylesheet anew
	@scripts/prepare
	@scripts/generated

css: ## make the stylesheet anew
	@scripts/prepare
	@. scripts/node-path && npm run --silent css

clean: ## remove what builds and tests left; keeps ./data
	rm -rf bin tmp node_modules e2e/node_modules scripts/node/node_modules
	find . -name '*.test' -type f -delete
