package till

import (
	"context"
	"strconv"

	"cointill/core/money"
	"cointill/core/payment"
	"cointill/core/sandbox"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// The faces of a payment at the counter.
const (
	faceWaiting = "waiting"
	faceSeen    = "seen"
	facePaid    = "paid"
	faceWrong   = "wrong"
	faceOver    = "over"
)

// showSale shows a payment that was started at the counter.
func (h *Handlers) showSale(c *page.Ctx) error {
	ctx := c.UserContext()
	v, err := h.Tills.FindSale(ctx, c.Scope, page.CleanText(c.Param("reference")))
	if err != nil {
		return err
	}
	shell := h.fillShell(c, words.T(ctx, "till.title"))
	if !v.State().Final() {
		shell.Live, shell.Refresh = livePath+"?payment="+v.Payment.Reference, refreshEvery
	}
	props := saleProps(ctx, shell, v, h.Networks.Problem(v.Payment.Network).String())
	if !v.State().Final() {
		props.PageURL, props.Sandbox = h.Pages.PageURL(v.Payment), len(sandbox.Fitting(v)) > 0
	}
	return c.Render(dashboard.TillSale(props))
}

// saleProps is what the cashier sees of a payment. With a problem of the network no customer is asked for money.
func saleProps(ctx context.Context, shell layout.TillPage, v payment.View, problem string) dashboard.TillSaleProps {
	p, coin := v.Payment, v.Coin()
	zone := page.LoadZone(v.Business)
	props := dashboard.TillSaleProps{TillPage: shell, Money: money.Currency(p.Currency).FormatForPeople(v.Charged()),
		Coin: coin.Format(p.Due) + " " + p.Coin, Network: v.Destination().Network,
		Deadline: p.ExpiresAt.In(zone),
		Window:   payment.Window, Now: v.Now, Seen: countConfirmations(v), Needed: int(v.Needed())}
	say := func(face, title, text string) { props.Face, props.Title, props.Text = face, title, text }
	received, due, over := coin.Format(p.Paid), coin.Format(p.Due), v.Now.After(p.ExpiresAt)
	switch v.State() {
	case payment.Successful:
		say(facePaid, words.T(ctx, "till.paid"), words.T(ctx, "till.paid_text"))
	case payment.Declined:
		say(faceWrong, wrongTitle(ctx, p.Reason),
			words.T(ctx, "till.wrong_text", "Received", received, "Due", due, "Coin", p.Coin))
	case payment.Failed:
		say(faceWrong, words.T(ctx, "till.failed"), words.T(ctx, "till.failed_text"))
	case payment.Pending, payment.Initiated, payment.Processing:
		switch {
		case p.Paid.Sign() == 0 && (over || payment.TooSmall(p)):
			say(faceOver, words.T(ctx, "till.time_over"), words.T(ctx, "till.time_over_text"))
		case p.Paid.Sign() > 0 && (over || v.Enough()):
			say(faceSeen, words.T(ctx, "till.seen"), words.T(ctx, "till.seen_text"))
		case problem != "":
			say(faceWrong, words.T(ctx, "till.unavailable"), words.T(ctx, "till.unavailable_text"))
		case p.Paid.Sign() > 0 && !v.AsksForRest():
			say(faceWrong, words.T(ctx, "till.part"),
				words.T(ctx, "till.part_only_text", "Received", received, "Due", due, "Coin", p.Coin))
		case p.Paid.Sign() > 0:
			say(faceWaiting, words.T(ctx, "till.part"),
				words.T(ctx, "till.part_text", "Received", received, "Due", due, "Coin", p.Coin))
		default:
			say(faceWaiting, words.T(ctx, "till.waiting"), words.T(ctx, "till.waiting_text"))
		}
	default: // Abandoned, Expired
		say(faceOver, words.T(ctx, "till.time_over"), words.T(ctx, "till.time_over_text"))
	}
	if props.Face == faceWaiting {
		askMoney(ctx, &props, v)
	}
	return props
}

// wrongTitle returns the title of a declined payment by its reason.
func wrongTitle(ctx context.Context, reason string) string {
	switch payment.Reason(reason) {
	case payment.Underpaid:
		return words.T(ctx, "till.under")
	case payment.Overpaid:
		return words.T(ctx, "till.over")
	}
	return words.T(ctx, "till.late")
}

// askMoney adds where to pay, and the code to scan. For tokens the code holds the address alone: from a request
// some wallets read the token's contract as the receiver.
func askMoney(ctx context.Context, props *dashboard.TillSaleProps, v payment.View) {
	where, rest := v.Destination(), v.Coin().Format(v.Rest())+" "+v.Payment.Coin
	props.Address, props.Coin = where.Address, rest
	if where.Tag != nil {
		props.Tag = strconv.FormatInt(*where.Tag, 10)
	}
	wallet := ui.QRProps{}
	if where.URI != "" {
		wallet = ui.DrawQR(where.URI, words.T(ctx, "till.qr_wallet", "Amount", rest, "Address", where.Address))
	}
	address := ui.DrawQR(where.Address, words.T(ctx, "till.qr_address", "Address", where.Address))
	props.First, props.FirstText = wallet, words.T(ctx, "till.scan_wallet")
	props.Second, props.SecondText = address, words.T(ctx, "till.only_address")
	if v.Payment.Coin == string(money.USDT) {
		props.First, props.FirstText = address, words.T(ctx, "till.scan_address")
		props.Second, props.SecondText = wallet, words.T(ctx, "till.with_amount")
	}
}

// countConfirmations returns the confirmations of the slowest transfer that counts.
func countConfirmations(v payment.View) int {
	least := int64(-1)
	for _, t := range v.Transfers {
		if n := v.Confirmations(t); !t.Gone && !t.Reverted && (least < 0 || n < least) {
			least = n
		}
	}
	return int(min(max(least, 0), v.Needed()))
}
