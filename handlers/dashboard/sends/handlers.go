// Package sends shows the queue of refunds and payouts, asks for them, and lets people approve,
// reject and withdraw them.
package sends

import (
	"context"
	"time"

	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/networks"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/addressbook"
	"cointill/core/send/rules"
	"cointill/core/send/signing"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
	"cointill/models"
)

// Sends is what these pages need of core/send.
type Sends interface {
	Ask(ctx context.Context, sc scope.Scope, r send.Request) (send.View, error)
	AskFile(ctx context.Context, sc scope.Scope, file []byte) ([]send.View, error)
	Cancel(ctx context.Context, sc scope.Scope, reference string) (send.View, error)
	ClaimURL(row models.Send) string
	Find(ctx context.Context, sc scope.Scope, reference string) (send.View, error)
	FindRefundable(ctx context.Context, sc scope.Scope, reference string, transfer int64) (send.Refundable, error)
	List(ctx context.Context, sc scope.Scope, f send.Filter) (list []send.View, next int64, err error)
	NameActors(ctx context.Context, sc scope.Scope, actors []string) (map[string]string, error)
	Timeline(ctx context.Context, sc scope.Scope, reference string) (steps []models.SendStep, err error)
	Totals(ctx context.Context, sc scope.Scope, since time.Time) (totals []send.Total, err error)
}

// Approvals is what these pages need of core/send for decisions of people.
type Approvals interface {
	Approve(ctx context.Context, sc scope.Scope, reference, seen string, proof send.Proof) (send.View, error)
	ApproveEach(ctx context.Context, sc scope.Scope, seen []send.Seen, proof send.Proof) (refused []error, err error)
	MarkSent(ctx context.Context, sc scope.Scope, seen send.Seen, note string, proof send.Proof) (send.View, error)
	MayApprove(ctx context.Context, sc scope.Scope, v send.View) (bool, error)
	Reject(ctx context.Context, sc scope.Scope, reference, note string) (send.View, error)
	Retry(ctx context.Context, sc scope.Scope, reference string, proof send.Proof) (send.View, error)
	UnmarkSent(ctx context.Context, sc scope.Scope, reference string) (send.View, error)
}

// Rules is what these pages need of core/send/rules.
type Rules interface {
	ReadRules(ctx context.Context, sc scope.Scope) (now rules.Rules, planned *rules.Planned, err error)
	SetRules(ctx context.Context, sc scope.Scope, r rules.Rules, proof send.Proof) error
}

// Signing is what these pages need of core/send for wallets that sign.
type Signing interface {
	CountParts(network, text string) (have, want int)
	AddWallet(ctx context.Context, sc scope.Scope, network, address string, proof send.Proof) error
	ListAccounts(ctx context.Context, sc scope.Scope, network string) ([]send.Account, error)
	ListNetworks(sc scope.Scope) []string
	ListWallets(ctx context.Context, sc scope.Scope) ([]models.PayoutWallet, error)
	Prepare(ctx context.Context, sc scope.Scope, reference, account string, speed send.Speed) (send.View, error)
	RemoveWallet(ctx context.Context, sc scope.Scope, id int64, proof send.Proof) error
	SpendsOutputs(network string) bool
	Submit(ctx context.Context, sc scope.Scope, reference, signed string) (send.Submitted, error)
	Unsigned(ctx context.Context, sc scope.Scope, reference string) (send.View, *send.Unsigned, error)
}

// Transactions is what these pages need of core/send/signing.
type Transactions interface {
	Attach(ctx context.Context, sc scope.Scope, reference, hash string) (send.View, error)
	BuildBatch(ctx context.Context, sc scope.Scope, network, account string,
		references []string) (send.SigningFile, error)
	ListBatches(ctx context.Context, sc scope.Scope) ([]signing.Batch, error)
	NoteSent(ctx context.Context, sc scope.Scope, reference, hash string) error
	ListConflicts(ctx context.Context, sc scope.Scope, v send.View) ([]signing.Conflict, error)
}

// Sandbox is what these pages need of core/sandbox.
type Sandbox interface {
	ApproveSend(ctx context.Context, sc scope.Scope, reference string) (send.View, error)
	SimulateSend(ctx context.Context, sc scope.Scope, reference, code string) (sandbox.SignedSend, error)
}

// Addresses is what these pages need of core/send/addressbook.
type Addresses interface {
	Add(ctx context.Context, sc scope.Scope, e addressbook.Entry, proof send.Proof) error
	Get(ctx context.Context, sc scope.Scope, id int64) (models.PayoutAddress, error)
	List(ctx context.Context, sc scope.Scope) ([]models.PayoutAddress, error)
	Remove(ctx context.Context, sc scope.Scope, id int64) error
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Addresses Addresses
	Answers   *idempotency.Store // what forms made: one that is sent twice makes it once
	Approvals Approvals
	Batches   Batches
	Clock     clock.Clock
	Networks  networks.Chooser // which networks serve a coin
	Rules     Rules
	Sandbox   Sandbox
	Sends     Sends
	Signing   Signing
	// Transactions are those that wallets send by themselves.
	Transactions Transactions
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	const one = display.SendsPath + "/:reference"
	sent := transactionPages{h}
	m.Get(display.SendsPath, scope.SeeSends, h.listSends)
	m.Get(newPath, scope.AskSends, h.newSendForm)
	m.Post(display.SendsPath, scope.AskSends, h.askSend)
	m.Get(addressesPath, scope.SeeSends, h.showAddressesPage)
	m.Post(addressesPath, scope.ApproveSends, h.addAddress)
	m.Post(addressesPath+"/:id/remove", scope.ApproveSends, h.removeAddress)
	m.Get(filePath, scope.AskSends, h.showFilePage)
	m.Post(filePath, scope.AskSends, h.askFile)
	m.Get(rulesPath, scope.SeeSends, h.showRulesPage)
	m.Post(rulesPath, scope.ApproveSends, h.setRules)
	m.Get(walletsPath, scope.SeeSends, h.showWalletsPage)
	m.Post(walletsPath, scope.ApproveSends, h.addWallet)
	m.Post(walletsPath+"/:id/remove", scope.ApproveSends, h.removeWallet)
	m.Get(safePath, scope.SignSends, sent.showSafePage)
	m.Post(safePath, scope.SignSends, sent.downloadSafe)
	together, several := batchPages{h}, approvalPages{h}
	m.Get(approvePath, scope.ApproveSends, several.chooseSends)
	m.Post(approvePath, scope.ApproveSends, several.approveChosen)
	m.Post(partsPath, scope.SignSends, h.countParts)
	m.Get(togetherPath, scope.SignSends, together.chooseSends)
	m.Post(togetherPath, scope.SignSends, together.startBatch)
	m.Get(togetherPath+"/:id", scope.SignSends, together.showBatchPage)
	m.Post(togetherPath+"/:id", scope.SignSends, together.prepareBatchAgain)
	m.Post(togetherPath+"/:id/check", scope.SignSends, together.checkBatch)
	m.Get(one, scope.SeeSends, h.showSendPage)
	m.Get(one+"/sign", scope.SignSends, h.showSignPage)
	m.Post(one+"/sign", scope.SignSends, h.prepareSend)
	m.Post(one+"/sign/check", scope.SignSends, h.checkSigned)
	m.Post(one+"/sign/sent", scope.SignSends, sent.noteSent)
	m.Post(one+"/transaction", scope.SignSends, sent.attachTransaction)
	m.Post(one+"/approve", scope.ApproveSends, h.approveSend)
	m.Post(one+"/approve/simulate", scope.DriveSandbox, h.playApprover)
	m.Post(one+"/reject", scope.ApproveSends, h.rejectSend)
	m.Post(one+"/cancel", scope.AskSends, h.cancelSend)
	m.Post(one+"/retry", scope.ApproveSends, h.retrySend)
	m.Get(one+"/another-way", scope.ApproveSends, several.showAnotherWay)
	m.Post(one+"/another-way", scope.ApproveSends, several.markSent)
	m.Post(one+"/another-way/back", scope.ApproveSends, several.unmarkSent)
	m.Post(one+"/simulate", scope.DriveSandbox, h.simulateSend)
}

const (
	newPath   = display.SendsPath + "/new"
	filePath  = display.SendsPath + "/file"
	rulesPath = display.SendsPath + "/rules"

	addressesPath = display.SendsPath + "/addresses"

	partsPath   = display.SendsPath + "/parts"
	walletsPath = display.SendsPath + "/wallets"

	safePath = display.SendsPath + "/safe"
)
