package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/payment/record"
	"cointill/core/payment/reference"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/handlers/api/body"
	"cointill/handlers/api/openapi"
)

// simulateRequest is the body of POST /v1/sandbox/payments/{reference}/simulate.
type simulateRequest struct {
	_        struct{}    `additionalProperties:"true"`
	Scenario body.Text   `json:"scenario" enum:"exact,underpay,overpay,two_parts,surplus,late,after_abandoned,double_spend,reorg,never_confirms,revert,missing_tag,wrong_asset,wrong_network" example:"exact" doc:"What the customer does."`
	Network  networkText `json:"network,omitempty" example:"polygon" doc:"The network that wrong_network pays on. Left out, the first other one of the coin."`
}

// advanceRequest is the body of POST /v1/sandbox/advance.
type advanceRequest struct {
	_         struct{}     `additionalProperties:"true"`
	Reference body.Text    `json:"reference" maxLength:"100" example:"order-1001" doc:"Either reference of the payment."`
	Seconds   body.Integer `json:"seconds" minimum:"1" maximum:"604800" example:"86400" doc:"By how much its own clock is moved ahead."`
}

// mineRequest is the body of POST /v1/sandbox/mine.
type mineRequest struct {
	_             struct{}     `additionalProperties:"true"`
	PaymentMethod body.Text    `json:"payment_method" enum:"crypto_bitcoin,crypto_ethereum,crypto_tether,crypto_ripple,crypto_dogecoin" example:"crypto_bitcoin" doc:"On whose network."`
	Network       networkText  `json:"network,omitempty" example:"polygon" doc:"Which of its networks. Left out, the first one that payment-methods lists."`
	Blocks        body.Integer `json:"blocks" minimum:"1" maximum:"200" example:"6" doc:"How many blocks."`
}

// simulatedData describes the result of a simulation and its next step.
type simulatedData struct {
	Reference       string            `json:"reference" example:"PAY_3K9V7QZ2M4X8N6B1C5D0F7G2HJ" doc:"The service's reference of the payment."`
	Scenario        string            `json:"scenario" example:"exact" doc:"What was played."`
	Explanation     string            `json:"explanation" example:"The customer pays what is still due." doc:"What it means."`
	Network         string            `json:"network" example:"sandbox-bitcoin" doc:"The simulated chain."`
	Transactions    []transactionData `json:"transactions" doc:"What was sent, or will be."`
	AdvancedSeconds int64             `json:"advanced_seconds" example:"0" doc:"By how much the payment's clock is moved ahead."`
	Next            string            `json:"next" example:"The payment becomes processing at the first confirmation." doc:"What will happen, and when."`
}

type transactionData struct {
	Hash   string `json:"hash" example:"9f2c41d6a0" doc:"Its hash."`
	Amount string `json:"amount" example:"0.00027778" doc:"What it carries, in whole coins."`
	Asset  string `json:"asset" example:"BTC" doc:"Of which asset."`
	Note   string `json:"note" example:"Sent now; the next block takes it." doc:"Where it goes, and when."`
}

// minedData tells where a chain stands after mining.
type minedData struct {
	PaymentMethod string `json:"payment_method" example:"crypto_bitcoin" doc:"As asked."`
	Network       string `json:"network" example:"sandbox-bitcoin" doc:"The simulated chain."`
	Blocks        int    `json:"blocks" example:"6" doc:"Blocks made."`
	Height        int64  `json:"height" example:"1042" doc:"Height of the last one."`
}

func (s *service) sandboxOperations() []*operation {
	const tag = "Sandbox"
	var about strings.Builder
	about.WriteString("Lets the customer pay, in every way that money can arrive or fail to. The payment is opened " +
		"first if nobody has. " +
		"Blocks come by themselves every few seconds.\n\n")
	for _, one := range sandbox.Scenarios() {
		about.WriteString("- `" + one.Code + "`: " + one.Explanation + "\n")
	}
	return []*operation{
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sandbox/payments/{reference}/simulate",
			ID:         "simulatePayment",
			Permission: apikey.WritePayments, Tag: tag,
			Summary: "Play a scenario", Message: "Scenario played.", About: about.String(),
			Params:  []*huma.Param{pathParam("reference", "Either reference of the payment.", "order-1001")},
			Request: simulateRequest{}, Sample: json.RawMessage(`{"scenario":"exact"}`), Data: simulatedData{},
			Refusals: []int{400, 404, 409, 413, 415}},
			run: inSandbox(runEffect(passParam("reference", "payment", simulateScenario), showSimulated))},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sandbox/advance", ID: "advancePayment",
			Permission: apikey.WritePayments, Tag: tag, Summary: "Move a payment's clock",
			Message: "Clock moved.",
			About: "Moves the clock of one payment ahead, so that its 7 minutes or 24 hours are over at once. " +
				"Answers the payment record.",
			Request: advanceRequest{}, Sample: json.RawMessage(`{"reference":"order-1001","seconds":86400}`),
			Data:     record.Record{},
			Refusals: []int{400, 404, 409, 413, 415}},
			run: inSandbox(runEffect(advanceClock, showRecord))},
		{Operation: openapi.Operation{Method: http.MethodPost, Path: "/v1/sandbox/mine", ID: "mineBlocks",
			Permission: apikey.WritePayments, Tag: tag, Summary: "Make blocks", Message: "Blocks made.",
			About:   "Makes blocks at once on a simulated chain. Every test payment on that chain sees them.",
			Request: mineRequest{}, Sample: json.RawMessage(`{"payment_method":"crypto_bitcoin","blocks":6}`),
			Data:     minedData{},
			Refusals: []int{400, 404, 409, 413, 415}}, run: inSandbox(runEffect(mineBlocks, showMined))},
	}
}

// inSandbox hides the sandbox from live keys before any word about a body: core
// does the same for the act itself.
func inSandbox(run handler) handler {
	return func(c *call) error {
		if c.scope.Domain != scope.Test {
			return fault.Missing("sandbox")
		}
		return run(c)
	}
}

func simulateScenario(c *call, reference string) (sandbox.Simulated, error) {
	in, err := readValidBody[simulateRequest](c)
	if err != nil {
		return sandbox.Simulated{}, err
	}
	return c.api.Sandbox.Simulate(c.ctx, c.scope, reference, in.Scenario.Value, money.Chain(in.Network.Value))
}

func showSimulated(_ *call, s sandbox.Simulated) (any, error) {
	return simulatedData{
		Reference: s.Reference, Scenario: s.Scenario.Code, Explanation: s.Scenario.Explanation,
		Network:      string(s.Network),
		Transactions: showAll(s.Transactions, showTransaction), AdvancedSeconds: int64(s.Advanced / time.Second),
		Next: s.Next.Text,
	}, nil
}

func showTransaction(t sandbox.Transaction) transactionData {
	return transactionData{Hash: t.Hash, Amount: t.Amount, Asset: t.Asset, Note: t.Note}
}

func advanceClock(c *call) (payment.View, error) {
	in, problems, err := readBody[advanceRequest](c)
	if err != nil {
		return payment.View{}, err
	}
	if in.Reference.Given && !reference.Pattern.MatchString(in.Reference.Value) {
		return payment.View{}, fault.Missing("payment")
	}
	view, err := c.api.Sandbox.Advance(c.ctx, c.scope, in.Reference.Value, in.Seconds.Value)
	if len(problems) > 0 { // no payment has an empty reference, and 0 seconds are always refused
		err = body.RefuseAll(problems, err)
	}
	return view, err
}

func mineBlocks(c *call) (sandbox.Mined, error) {
	in, problems, err := readBody[mineRequest](c)
	if err != nil {
		return sandbox.Mined{}, err
	}
	blocks := int(min(max(in.Blocks.Value, -1), sandbox.MaxBlocks+1)) // fits an int everywhere, and stays out of range
	mined, err := c.api.Sandbox.Mine(c.ctx, c.scope, money.Method(in.PaymentMethod.Value),
		money.Chain(in.Network.Value), blocks)
	if len(problems) > 0 { // an empty payment_method and 0 blocks are always refused
		err = body.RefuseAll(problems, err)
	}
	return mined, err
}

func showMined(_ *call, m sandbox.Mined) (any, error) {
	return minedData{PaymentMethod: string(m.Method), Network: string(m.Network), Blocks: m.Blocks, Height: m.Height},
		nil
}
