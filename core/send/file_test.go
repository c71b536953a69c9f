package send_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/core/fault"
	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/scope"
	"cointill/core/send"
	"cointill/core/send/letter"
	"cointill/core/send/request"
	"cointill/core/send/rules"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// eachFileOffice runs a test on both databases, where a coin is worth 80,000 USD.
func eachFileOffice(t *testing.T, test func(o *office)) {
	t.Helper()
	t.Parallel()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		o := newOffice(t, db, scope.Test)
		o.sends.Quotes = steady{}
		test(o)
	})
}

// countSends counts what asking for sends writes.
func (o *office) countSends() string {
	o.Helper()
	var sends, steps, audits int64
	read := o.db.Read(o.Context())
	o.must(errors.Join(read.Model(&models.Send{}).Count(&sends).Error, read.Model(&models.SendStep{}).Count(&steps).Error,
		read.Model(&models.Audit{}).Where("action = ?", "send.asked").Count(&audits).Error))
	return fmt.Sprint(sends, " sends, ", steps, " steps, ", audits, " audited")
}

// askFile asks for the payouts of a file, and writes what is wrong in it as text.
func (o *office) askFile(sc scope.Scope, file string) (made []send.View, wrong string) {
	made, err := o.sends.AskFile(o.Context(), sc, []byte(file))
	var rows *request.FileError
	if !errors.As(err, &rows) {
		if err != nil {
			wrong = err.Error()
		}
		return made, wrong
	}
	for _, one := range rows.Rows {
		wrong += fmt.Sprintf("%d %s: %s\n", one.Row, one.Column, one.Sentence)
	}
	return made, wrong
}

const fileHeader = "coin,amount,fiat_amount,currency,address,business_reference,note\n"

// TestFileAsksForAllPayouts: each row becomes a payout that waits for approval, with its own amount.
func TestFileAsksForAllPayouts(t *testing.T) {
	eachFileOffice(t, func(o *office) {
		made, wrong := o.askFile(o.owner, fileHeader+"BTC,0.5,,,"+recipient+",rent-1,Rent\nBTC,,80000,USD,"+recipient+",,\n"+
			"DOGE,20,,,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,,\n")
		if wrong != "" || len(made) != 3 {
			o.Fatalf("%d payouts, and it is wrong: %s", len(made), wrong)
		}
		var got []string
		for _, v := range made {
			now := o.find(v).Send
			got = append(got, fmt.Sprintf("%s %s %s %s %d", now.Status, money.Coin(now.Coin).Format(now.Amount), now.Coin, now.Note,
				now.ValueUSD))
		}
		want := "awaiting_approval 0.50000000 BTC Rent 4000000; awaiting_approval 1.00000000 BTC  8000000; " +
			"awaiting_approval 20.00000000 DOGE  160000000"
		if strings.Join(got, "; ") != want {
			o.Errorf("got %s, want %s", strings.Join(got, "; "), want)
		}
		if made[0].Send.BusinessReference != "rent-1" || o.countSends() != "3 sends, 3 steps, 3 audited" {
			o.Errorf("the reference is %s; there are %s", made[0].Send.BusinessReference, o.countSends())
		}
	})
}

// TestFileMailsEachApproverOnce: one mail names the number and the totals of the payouts that wait for approval, and
// leads to their list. A file with one such payout is mailed about like a payout of its own.
func TestFileMailsEachApproverOnce(t *testing.T) {
	eachFileOffice(t, func(o *office) {
		o.setRules(rules.Rules{OneFrom: 100_00})
		letters := o.listen()
		small, btc, doge := "BTC,,50,USD,"+recipient+",,\n", "BTC,0.5,,,"+recipient+",,\n",
			"DOGE,20,,,mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn,,\n"
		made, wrong := o.askFile(o.owner, fileHeader+doge+btc+small+btc)
		if wrong != "" || len(made) != 4 {
			o.Fatalf("%d payouts, and it is wrong: %s", len(made), wrong)
		}
		o.expectLetters(*letters, "approve_file, 3: 1.00000000 BTC, 20.00000000 DOGE, http://localhost/dashboard/sends?show=approve")
		*letters = nil
		made, wrong = o.askFile(o.owner, fileHeader+small+btc)
		if wrong != "" || len(made) != 2 {
			o.Fatalf("%d payouts, and it is wrong: %s", len(made), wrong)
		}
		o.expectLetters(*letters, "approve, 0: 0.50000000 BTC, http://localhost/dashboard/sends/"+made[1].Send.Reference)
	})
}

// expectLetters fails unless these mails were written.
func (o *office) expectLetters(letters []letter.Letter, want ...string) {
	o.Helper()
	var got []string
	for _, l := range letters {
		got = append(got, fmt.Sprintf("%s, %d: %s, %s", l.Kind, l.Count, l.Amount, l.URL))
	}
	if !slices.Equal(got, want) {
		o.Errorf("the mails are %q, want %q", got, want)
	}
}

// TestWrongFileStoresNothing (SD-11): an error in one row, found before or while rows are stored, stores none.
func TestWrongFileStoresNothing(t *testing.T) {
	eachFileOffice(t, func(o *office) {
		own := o.paid(money.CryptoBitcoin)
		var place models.Destination
		o.must(o.db.Read(o.Context()).Where("payment_id = ?", own.ID).Take(&place).Error)
		o.ask(send.Request{Kind: send.Payout, Method: string(money.CryptoBitcoin), Amount: "1", Address: recipient,
			BusinessReference: "taken"})
		before := o.countSends()
		good := "BTC,0.5,,," + recipient + ",,\n"
		for name, c := range map[string]struct{ rows, want string }{
			"values of one row": {good + "BTC,x,,," + recipient + ",,\n", "3 amount: Must be an amount of BTC above zero, for example 0.5.\n"},
			"every row": {"BTC,1,,,1BoatSLRHtKNngkdXEeobR76b53LETtpyT,,\nBTC,0.00000001,,," + recipient + ",,\n" + good,
				"2 address: Is not an address of Bitcoin (regtest). Copy it again from the recipient's wallet.\n" +
					"3 amount: Is less than the network can carry (0.00000546 BTC).\n"},
			"rows that the database refuses": {good + "BTC,1,,," + recipient + ",taken,\n" + good + "BTC,1,,," + place.Address + ",,\n",
				"3 business_reference: Has been used before.\n5 address: Is one of your own addresses: payments come to it.\n"},
			"errors of every kind": {"GOLD,x,,,nowhere,,\nBTC,1,,,nowhere,same,\nBTC,1,,,nowhere,same,\n" +
				"BTC,0.00000001,,,,,\nBTC,x,,,nowhere,,\nXRP,1,,,nowhere,,\nBTC,1,,," + recipient + ",taken,\nBTC,1\n" +
				"BTC,1,,," + place.Address + ",,\n" + good + "BTC,,0.01,USD," + recipient + ",,\n",
				"2 coin: Must be one of BTC, ETH, USDT, XRP, DOGE.\n" +
					"3 address: Is not an address of Bitcoin (regtest). Copy it again from the recipient's wallet.\n" +
					"4 business_reference: Is the same as in row 3.\n" +
					"4 address: Is not an address of Bitcoin (regtest). Copy it again from the recipient's wallet.\n" +
					"5 address: Is required: where the money goes.\n" +
					"5 amount: Is less than the network can carry (0.00000546 BTC).\n" +
					"6 amount: Must be an amount of BTC above zero, for example 0.5.\n" +
					"6 address: Is not an address of Bitcoin (regtest). Copy it again from the recipient's wallet.\n" +
					"7 address: Is not an address of this XRP Ledger. Copy it again from the recipient's wallet.\n" +
					"8 business_reference: Has been used before.\n" +
					"9 : It has 2 values, and there are 7 columns.\n" +
					"10 address: Is one of your own addresses: payments come to it.\n" +
					"12 fiat_amount: Is less than the network can carry (0.00000546 BTC).\n"},
			"an amount in fiat that is too small": {good + "BTC,,0.01,USD," + recipient + ",,\n",
				"3 fiat_amount: Is less than the network can carry (0.00000546 BTC).\n"},
		} {
			if made, wrong := o.askFile(o.owner, fileHeader+c.rows); wrong != c.want || len(made) != 0 {
				o.Errorf("%s: %d payouts, and the errors are\n%swant\n%s", name, len(made), wrong, c.want)
			}
			if now := o.countSends(); now != before {
				o.Errorf("%s: there are %s, want %s", name, now, before)
			}
		}
		developer := o.owner
		developer.Role = scope.Developer
		developer.Domain = scope.Live
		if _, err := o.sends.AskFile(o.Context(), developer, []byte(fileHeader+good)); fault.KindOf(err) != fault.Forbidden {
			o.Errorf("a developer in live: %v, want Forbidden", err)
		}
	})
}

// priceless has no price of any coin.
type priceless struct{}

func (priceless) Quote(context.Context, scope.Scope, money.Coin, money.Currency) (quote.Quote, error) {
	return quote.Quote{}, fault.Retry("no_rate", time.Second, "No fresh rate.")
}

// TestWrongFileWithoutPrices: what is wrong in a file is said also while there is no price for its right rows.
func TestWrongFileWithoutPrices(t *testing.T) {
	t.Parallel()
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = priceless{}
	good := "BTC,0.5,,," + recipient + ",,\n"
	if _, err := o.sends.AskFile(o.Context(), o.owner, []byte(fileHeader+good)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a right file without prices: %v, want Unavailable", err)
	}
	want := "3 amount: Must be an amount of BTC above zero, for example 0.5.\n"
	if _, wrong := o.askFile(o.owner, fileHeader+good+"BTC,x,,,"+recipient+",,\n"); wrong != want {
		t.Errorf("a wrong file without prices: %q, want %q", wrong, want)
	}
}

// TestLargestFile: as many payouts as a file may have are asked for at once.
func TestLargestFile(t *testing.T) {
	t.Parallel()
	count := speed.Pick(100, request.MaxRows)
	o := newQuickOffice(t, scope.Test)
	o.sends.Quotes = steady{}
	made, wrong := o.askFile(o.owner, fileHeader+strings.Repeat("BTC,0.5,,,"+recipient+",,\n", count))
	if wrong != "" || len(made) != count {
		t.Errorf("%d payouts of %d, and it is wrong: %s", len(made), count, wrong)
	}
}
