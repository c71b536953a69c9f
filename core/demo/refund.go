package demo

import (
	"time"

	"cointill/core/money"
	"cointill/core/sandbox"
	"cointill/core/send"
)

// addresses are where customers have refunds sent, on each simulated network. No payment has them.
// Networks of Ethereum's kind have the same.
var addresses = map[money.Chain]string{
	money.Bitcoin:  "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
	money.Dogecoin: "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
	money.Ethereum: "0x52908400098527886E0F7030069857D2E4169EE7",
	money.XRPL:     "rrrrrrrrrrrrrrrrrrrrBZbvji",
	money.Tron:     "TUNo45isvZHXiqzNcwtVEs3VhbyXVZnBSH",
}

// refundBySend asks for a send of all that came, and has it approved, signed and mined.
func (v *visit) refundBySend() error {
	asked, err := v.askRefund()
	if err != nil {
		return err
	}
	reference := asked.Send.Reference
	now := v.Clock.Now()
	v.line.add(now.Add(v.random.drawBetween(20*time.Minute, 2*time.Hour)), func() error {
		_, err := v.Sandbox.ApproveSend(v.ctx, v.TestScope, reference)
		return err
	})
	v.line.add(now.Add(v.random.drawBetween(130*time.Minute, 4*time.Hour)), func() error {
		if _, err := v.Sandbox.SimulateSend(v.ctx, v.TestScope, reference, sandbox.Exact); err != nil {
			return err
		}
		return v.mineBlocks(v.net, v.countBlocks())
	})
	return nil
}

// askRefund asks for a send that refunds the payment.
func (v *visit) askRefund() (send.View, error) {
	kind := v.network
	if kind.IsEVM() {
		kind = money.Ethereum
	}
	return v.Sends.Ask(v.ctx, v.Owner, send.Request{Kind: "refund", Payment: v.reference, Address: addresses[kind],
		Note: "Sent back to the customer."})
}
