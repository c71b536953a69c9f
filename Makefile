# Everything a developer runs. `make` lists it.
.DEFAULT_GOAL := help
.PHONY: help run house demo pictures build test test-all test-nightly test-attacks test-crash test-libreoffice test-pages test-race test-small-machine test-tron-public test-upgrade test-webhooks test-xrpl-public mutate sim sim-mutations bench bench-dashboard bench-pages bench-slow bench-enumeration scale tasks footprint lighthouse book fuzz fuzz-nightly fuzz-long lint generate css clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' Makefile

run: ## serve an empty instance with data in ./data
	go run ./cmd/cointill

demo: ## serve a ready business with sample data
	go run ./cmd/cointill demo

pictures: ## draw the README's pictures from the demo again
	@scripts/prepare --all
	@scripts/end-to-end -run 'TestPictures$$' . -args -pictures.write

build: ## build the static binary bin/cointill
	cold=$$(scripts/cold) && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' $$cold -o bin/cointill ./cmd/cointill

test: ## what must hold before a commit, in minutes; installs what it needs
	@scripts/test

test-all: ## everything that must hold before a change lands: test, then full sizes, the race detector, fuzzing, end to end
	@scripts/test --all

test-nightly: ## what draws at random, at its full numbers; goes on where it was interrupted: NIGHTLY_TIME=120 make test-nightly
	@scripts/nightly

test-crash: ## kill -9 in the middle of payments, 300 times on SQLite and 100 times on PostgreSQL
	@scripts/prepare --all
	@scripts/with-postgres --durable scripts/end-to-end -v -run 'TestCrash$$' -timeout 90m . -args -crash.sqlite=300 -crash.postgres=100 -crash.payments=500

test-attacks: ## attacks that make test runs fewer times, as often as the catalogue asks for: 1,000,000 tags, 10,000 deliveries due at once and so on
	@scripts/prepare
	go test -count=1 -v -timeout 60m -run 'TestByzantineNode' ./chain/bitcoin -args -bitcoin.steps=10000
	scripts/with-postgres go test -count=1 -v -timeout 60m -run 'Test(EveryDepth|MinedAgain)$$' ./core/payment -args -every -again=1000
	scripts/with-postgres go test -count=1 -v -timeout 60m -run 'Test(Herd|Killed)$$' ./core/webhook/delivery -args -due=10000 -kills=1000
	scripts/with-postgres go test -count=1 -v -timeout 60m -run 'TestGuessesOfAnHour$$' ./core/account/auth -args -guesses=10000
	scripts/with-postgres go test -count=1 -v -timeout 4h -run 'TestTagsNeverMeet$$' ./core/wallet -args -tags=1000000

test-race: ## all tests with the race detector; test-all leaves out those that do one thing after another
	@scripts/prepare --all
	@scripts/race

test-small-machine: ## attacks on a process with 256 MiB of memory and 1,024 open files, and their table
	@scripts/prepare --all
	@scripts/end-to-end -v -run 'TestSmallMachine$$' -timeout 10m .

# The release that test-upgrade begins with: the last with fewer migrations.
RELEASE ?= 0f6432620212e59aef37ad3a67d3156937348710

test-upgrade: ## an earlier release is replaced under load, process by process: make test-upgrade RELEASE=commit
	@scripts/prepare --all
	@scripts/with-postgres scripts/end-to-end -v -run 'TestRollingUpgrade$$' -timeout 20m . -args -upgrade.from=$(RELEASE)

test-libreoffice: ## LibreOffice reads the workbooks that are downloaded, cell by cell
	@scripts/prepare --nightly
	@scripts/end-to-end -v -run 'TestLibreOffice$$' -timeout 10m .

test-tron-public: ## the Tron adapter on a node: make test-tron-public SERVER=https://key@host NETWORK=nile
	go test -count=1 -run TestPublicServer -v ./chain/tron -args -tron.server=$(SERVER) -tron.network=$(NETWORK)

test-xrpl-public: ## the XRP adapter on a server: make test-xrpl-public SERVER=wss://… NETWORK=testnet
	go test -count=1 -run TestPublicServer -v ./chain/xrpl -args -xrpl.server=$(SERVER) -xrpl.network=$(NETWORK)

# The simulation: how many seeds, the first of them, and how many payments and sends in each.
SEEDS ?= 200
FROM ?= 1
PAYMENTS_EACH ?= 4
SENDS_EACH ?= 10

sim: ## seeded worlds with every kind of fault: make sim SEEDS=200 FROM=1 (TRACE=1 prints what happens)
	@cd core/simulation && go test -count=1 -timeout 24h -run 'TestSimulation$$' -args -sim.seeds=$(SEEDS) -sim.from=$(FROM) -sim.payments=$(PAYMENTS_EACH) -sim.sends=$(SENDS_EACH) -sim.figures $(if $(TRACE),-sim.trace)

sim-mutations: ## plant each of the listed bugs, and see the simulation find it
	@cd core/simulation && go test -count=1 -timeout 24h -run 'TestMutations$$' -args -sim.seeds=$(SEEDS) -sim.sends=$(SENDS_EACH) -sim.plant

mutate: ## change each condition that guards money or access, and see a test fail for it: make mutate ONLY=core/payment
	@state=$$(realpath -m "$${COINTILL_MUTATION_STATE:-tmp/mutation}") && cd internal/testing/mutationtest && \
		COINTILL_MUTATION_STATE=$$state go test -count=1 -timeout 24h -run 'TestMutants$$' -args -mutate -mutate.only='$(ONLY)' -mutate.time='$(or $(MUTATE_TIME),0)'

test-webhooks: ## 100,000 events, half of them on each database, to failing consumers while the program is killed again and again
	@scripts/prepare --all
	@scripts/with-postgres --durable scripts/end-to-end -v -run Storm -timeout 6h . -args -storm.payments=12500 -storm.rate=5 -storm.payers=8 -storm.consumers=2 -storm.patience=2h

bench: ## initiate and verify per second, beside bare SQL in the same run
	@scripts/prepare
	@scripts/with-postgres --durable go test -run '^$$' -bench . -timeout 60m ./...

bench-slow: ## how long a verification takes beside 2,000 slow connections, as a ratio to 300 ms
	@scripts/prepare --all
	@scripts/end-to-end -run '^$$' -bench SlowClients -benchtime 3000x

bench-pages: ## how long a verification takes beside 1,000 open overviews and 1,000 payment pages, as a ratio to 300 ms
	@scripts/prepare --all
	@scripts/with-postgres --durable scripts/end-to-end -run '^$$' -bench OpenPages -benchtime 2000x .

bench-enumeration: ## whether the times of answers tell who has an account: p beside its limit of 0.01, of 2 × 2,000 samples
	@go test ./core/account/auth -run '^$$' -bench Enumeration -benchtime 1x -timeout 60m -args -enumeration.samples=2000 -enumeration.interval=100ms

# How much bench-dashboard fills its database with; less is faster.
PAYMENTS ?= 1000000
THEIRS ?= 4000000

bench-dashboard: ## lists, filters, searches and exports at a million payments, as ratios to their limits
	@scripts/prepare
	@scripts/with-postgres --durable go test ./core/payment -run '^$$' -bench Lists -benchtime 50x -timeout 6h -args -its $(PAYMENTS) -others 4999 -theirs $(THEIRS)

# The sizes that scale measures at; with BUSINESS=BUS_… it measures a database
# that cointill seed filled, named by COINTILL_TEST_DATABASE_URL, as it stands.
SIZES ?= 10000,100000,1000000

scale: ## what requests, blocks and payments cost as the tables grow: make scale SIZES=10000,100000
	@scripts/prepare
	@scripts/with-postgres --durable go test ./cmd/cointill -run '^$$' -bench Scale -benchtime 1x -timeout 12h -args $(if $(BUSINESS),-scale.business=$(BUSINESS),-scale.sizes=$(SIZES))

# Another release's program, and the steps that it needs: make tasks TASKS='-tasks.program=PATH -tasks.before'.
tasks: ## eleven tasks in the dashboard, and sign-up to USDT: clicks, keys and seconds of a person who knows it
	@scripts/prepare --all
	@scripts/end-to-end -v -parallel 1 -run 'Test(Tasks|FirstUSDT)$$' -timeout 20m . -args $(TASKS)

footprint: ## binary, start and idle memory, beside their limits
	@scripts/with-postgres scripts/footprint

lighthouse: ## Lighthouse on the payment page and the list of transactions, beside the limits
	@scripts/lighthouse

book: ## write every page in every state to tmp/book, to be looked at in a browser
	@COINTILL_VIEWBOOK=$(CURDIR)/tmp/book go test -count=1 -run TestBook ./views && echo tmp/book/index.html

test-pages: ## every page of the product and of the view book at two widths, light and dark: accessibility, console, scrolling, tab order
	@scripts/prepare --all
	@scripts/with-postgres scripts/end-to-end -v -run 'Test(Book|Pages|BusinessPages|MoneyPages|Passkey|People|WebhookPages|XRPSetUp)$$' -timeout 90m . -args -views.all

fuzz: ## every fuzz target on the number of inputs that the comment above it states
	@scripts/fuzz

fuzz-nightly: ## every fuzz target on 2,000,000 inputs
	@scripts/fuzz 2000000

fuzz-long: ## 100,000,000 inputs in all: every fuzz target for a minute, again and again
	@scripts/fuzz-long 100000000

house: ## print the code's words and sizes beside their bars
	@go test -count=1 -v -run 'TestMeasures$$' ./internal/house

lint: ## gofmt, tidy go.mod, go vet, staticcheck
	@scripts/lint

generate: ## make the templ code, the stylesheet and the code of test contracts
	@scripts/prepare --all
	@scripts/generated

css: ## make the stylesheet
	@scripts/prepare
	@. scripts/node-path && npm run --silent css

clean: ## remove what builds and tests left; keeps ./data
	rm -rf bin tmp node_modules e2e/node_modules scripts/node/node_modules
	find . -name '*.test' -type f -delete
