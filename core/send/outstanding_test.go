package send_test

import (
	"testing"
	"time"

	"cointill/chain"
	"cointill/core/send"
	"cointill/models"
)

// useUp stores the spend keys of a transfer.
func (o *office) useUp(t models.Transfer, keys ...string) {
	o.Helper()
	for _, key := range keys {
		o.must(o.db.Exec(o.Context()).Create(&models.Spend{Network: t.Network, Key: key, TransferID: t.ID}).Error)
	}
}

// TestRetryWaitsForWhatWasHandedOut (SD-9): a send is ready again at once only where every transaction that was handed
// to a wallet is dead. Another number of the account was used, or the transaction that failed is another one: the data
// handed out may still confirm, so two people must agree.
func TestRetryWaitsForWhatWasHandedOut(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.signer.Terms = "7"
		for name, c := range map[string]struct {
			key     string // of the transaction that was seen; "" where it is forgotten
			checked bool   // the transaction that was seen was checked here
			reverts bool
			dead    bool
		}{
			"its number was used":                    {key: "0xaa:7", dead: true},
			"its number was used by one that failed": {key: "0xaa:7", reverts: true, dead: true},
			"another number was used":                {key: "0xaa:9"},
			"one that failed had another number":     {key: "0xaa:9", reverts: true},
			"another account's number was used":      {key: "0xbb:7"},
			"the number is not known":                {},
			"the checked transaction failed":         {checked: true, reverts: true, dead: true},
		} {
			v := e.payEther(e.owner, "0.001")
			_, err := e.sends.Signing.Prepare(e.Context(), e.owner, v.Send.Reference, "0xAA", chain.SpeedUsual)
			e.must(err)
			id := "0x" + name
			if c.checked {
				e.must(e.db.Exec(e.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).Update("signed_hash", id).Error)
			}
			e.reachHeight(8)
			paid := e.pay(v, id, 6)
			if c.key != "" {
				e.useUp(paid, c.key)
			}
			e.expectState(e.evaluate(v), send.Processing)
			fails := map[string]any{"gone": true, "gone_reason": send.Replaced, "gone_at": e.clock.Now(), "height": nil,
				"conflict_height": 7}
			if c.reverts {
				fails = map[string]any{"reverted": true}
			}
			e.change(paid, fails)
			e.reachHeight(500)
			e.expectState(e.evaluate(v), send.Failed)
			again, err := e.sends.Approvals.Retry(e.Context(), e.owner, v.Send.Reference, send.Proof{Password: password})
			want := send.AwaitingApproval
			if c.dead {
				want = send.Ready
			}
			if err != nil || again.State() != want {
				e.Errorf("%s: tried again the send is %s, %v, want %s", name, again.State(), err, want)
			}
			_, err = e.sends.Cancel(e.Context(), e.owner, v.Send.Reference)
			if c.dead {
				e.must(err)
			} else {
				e.expectFault(name+": withdrawn", err, "may_confirm")
			}
		}
	})
}

// TestRetryNeedsASharedOutput (SD-9): where outputs are spent, a send is ready again at once only where the
// transaction that was replaced spent nothing but outputs that all prepared transactions spend. Otherwise another one
// may still confirm.
func TestRetryNeedsASharedOutput(t *testing.T) {
	eachBitcoinOffice(t, func(b *bitcoinOffice) {
		for _, shared := range []bool{true, false} {
			first, second := b.receive(), b.receive()
			keys := []string{first.TxID + ":0", second.TxID + ":0"}
			v := b.ready("0.0015")
			_, err := b.sends.Signing.Prepare(b.Context(), b.owner, v.Send.Reference, accountKey, chain.SpeedUsual)
			b.must(err)
			b.signer.Shared = keys
			if !shared { // it was prepared before with the first output and another one
				b.signer.Shared = keys[:1]
			}
			b.set(v, map[string]any{"signed_hash": "checked"})
			paid := b.pay(v, "checked", 0)
			b.useUp(paid, keys...)
			b.expectState(b.evaluate(v), send.Processing)
			b.change(paid, map[string]any{"gone": true, "gone_reason": send.Replaced, "gone_at": b.clock.Now(),
				"conflict_height": 101})
			b.reach(regtest, 500)
			b.expectState(b.evaluate(v), send.Failed)
			b.clock.Advance(time.Minute) // until another proof is allowed
			again, err := b.sends.Approvals.Retry(b.Context(), b.owner, v.Send.Reference, send.Proof{Password: password})
			if want := map[bool]send.State{true: send.Ready, false: send.AwaitingApproval}[shared]; err != nil ||
				again.State() != want {
				b.Errorf("with all outputs shared: %t, tried again the send is %s, %v, want %s", shared, again.State(), err, want)
			}
			b.must(b.db.Exec(b.Context()).Where("transfer_id = ?", paid.ID).Delete(&models.Spend{}).Error)
			b.must(b.db.Exec(b.Context()).Delete(&paid).Error)
		}
	})
}

// TestRetryOnceLedgersPassed (SD-9): a transaction that names the last ledger which may hold it, as on the XRP Ledger,
// can't confirm after that ledger. One that was not checked here may name another.
func TestRetryOnceLedgersPassed(t *testing.T) {
	eachEthereumOffice(t, func(e *ethereumOffice) {
		e.addWallet(e.owner, "0xaa")
		e.signer.Terms, e.signer.Last = "7", 600
		for _, checked := range []bool{true, false} {
			v := e.payEther(e.owner, "0.001")
			_, err := e.sends.Signing.Prepare(e.Context(), e.owner, v.Send.Reference, "0xAA", chain.SpeedUsual)
			e.must(err)
			id := map[bool]string{true: "0xchecked", false: "0xother"}[checked]
			e.change(e.pay(v, id, 0), map[string]any{"gone": true, "gone_reason": send.Dropped, "gone_at": e.clock.Now()})
			e.must(e.db.Exec(e.Context()).Model(&models.Send{}).Where("id = ?", v.Send.ID).UpdateColumns(map[string]any{
				"signed_hash": "0xchecked", "status": "failed", "reason": send.Dropped}).Error)
			for tip, lapsed := range map[int64]bool{600: false, 601: checked} {
				e.reachHeight(tip)
				if now := e.find(v); now.MayConfirm() == lapsed {
					e.Errorf("at ledger %d, with a checked transaction: %t, the send may confirm: %t, want %t", tip, checked,
						now.MayConfirm(), !lapsed)
				}
			}
			e.reachHeight(601)
			again, err := e.sends.Approvals.Retry(e.Context(), e.owner, v.Send.Reference, send.Proof{Password: password})
			if want := map[bool]send.State{true: send.Ready, false: send.AwaitingApproval}[checked]; err != nil ||
				again.State() != want {
				e.Errorf("with a checked transaction: %t, tried again the send is %s, %v, want %s", checked, again.State(), err,
					want)
			}
		}
	})
}
