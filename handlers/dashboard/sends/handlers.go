// Package sends shows the queue of refunds and payouts, asks for them, and lets people approve,
// reject and withdraw them.
package sends

import (
	"cointill/core/clock"
	"cointill/core/idempotency"
	"cointill/core/networks"
	"cointill/core/sandbox"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/addressbook"
	"cointill/core/send/batch"
	"cointill/core/send/rules"
	"cointill/core/send/signing"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Addresses *addressbook.Book
	Answers   *idempotency.Store // what forms made: one that is sent twice makes it once
	Approvals *send.Approvals
	Batches   *batch.Batches
	Clock     clock.Clock
	Networks  networks.Chooser // which networks serve a coin
	Rules     *rules.Keeper
	Sandbox   *sandbox.Service
	Sends     *send.Service
	Signing   *send.Signing
	// Transactions are those that wallets send by themselves.
	Transactions *signing.Service
}

// Routes declares the routes of these pages, each with the right that it needs.
func (h *Handlers) Routes(m page.Members) {
	const one = display.SendsPath + "/:reference"
	sent := transactionPages{h}
	m.Get(display.SendsPath, scope.SeeSends, h.listSends)
	m.Get(newPath, scope.AskSends, h.newSendForm)
	m.Post(display.SendsPath, scope.AskSends, h.askSend)
	m.Get(addressesPath, scope.SeeSends, page.ShowForm(h.showAddresses))
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
	m.Get(one, scope.SeeSends, page.ShowForm(h.showSend))
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
