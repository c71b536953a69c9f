package views_test

import (
	"context"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"cointill/views/checkout"
	"cointill/views/mail"
	"cointill/views/ui"
	"cointill/views/words"
)

// languagePages are the customer's pages and mail in each language: those with
// most words in every one, and all of them in Arabic.
func languagePages() map[string]templ.Component {
	pages := map[string]templ.Component{}
	for _, lang := range words.Languages {
		shown := []checkout.View{checkout.Waiting, checkout.Under, checkout.Processing}
		if words.Direction(lang) == "rtl" {
			shown = views
		}
		for _, view := range shown {
			p := status(view, "XRP")
			p.Lang, p.Chosen = lang, true
			pages["pay-"+lang+"-"+string(view)] = checkout.Page(checkout.PageProps{StatusProps: p, Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Test: view == checkout.Waiting, Scenarios: scenarios})
		}
		networks := status(checkout.Waiting, "USDT")
		networks.Lang, networks.Chosen = lang, true
		pages["pay-"+lang+"-networks"] = checkout.Page(checkout.PageProps{StatusProps: networks, Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"})
		if lang == words.Languages[0] || words.Direction(lang) == "rtl" {
			arrived := status(checkout.Waiting, "ETH")
			arrived.Lang, arrived.Chosen = lang, true
			arrived.Uncredited = []checkout.UncreditedAmount{{Amount: "0.00612304", Network: "Base"},
				{Amount: "0.00100000", Network: "Ethereum", Hidden: true}, {Amount: "0.00200000", Network: "Arbitrum One",
					NotEntered: true}}
			pages["pay-"+lang+"-uncredited"] = checkout.Page(checkout.PageProps{StatusProps: arrived, Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"})
		}
		small := status(checkout.Unavailable, "USDT")
		small.Lang, small.Chosen, small.TooSmallForOneAddress = lang, true, true
		pages["pay-"+lang+"-too_small_one_address"] = checkout.Page(checkout.PageProps{StatusProps: small, Reference: "PAY_9hQ2mVx4Lr7TzKc1Bn3W"})
		link := checkout.LinkPageProps{Lang: lang, Chosen: true, Code: "b3anz7", State: checkout.LinkOpen, Merchant: "Sunbird Coffee", Title: "Bag of beans", Currency: "NGN", Min: "₦500", Max: "₦20,000", Methods: choices()}
		link.Form = ui.Form{Values: map[string]string{"amount": "10", "email": "chidi@"}, Errors: map[string][]string{"amount": {words.Say(lang, "bad_amount", "Min", "₦500", "Max", "₦20,000")}, "email": {words.Say(lang, "bad_email")}}}
		pages["link-page-"+lang] = checkout.LinkPage(link)
		link.State = checkout.LinkUsedUp
		pages["link-page-"+lang+"-closed"] = checkout.LinkPage(link)
		receipt := receiptProps()
		receipt.Lang = lang
		pages["mail-receipt-"+lang] = mail.Receipt(receipt)
	}
	return pages
}

func choices() []checkout.Choice {
	return []checkout.Choice{{Code: "crypto_bitcoin", Coin: "BTC", Name: "Bitcoin", Network: "Bitcoin network"}, {Code: "crypto_tether", Coin: "USDT", Name: "Tether USDt", Network: "Ethereum (ERC-20)"}, {Code: "crypto_ripple", Coin: "XRP", Name: "XRP", Network: "XRP Ledger"}}
}

// TestReceiptLanguages: a receipt says the same in its HTML and its text, in
// each language, and nothing of it is left in English.
func TestReceiptLanguages(t *testing.T) {
	for _, lang := range words.Languages {
		p := receiptProps()
		p.Lang = lang
		var page strings.Builder
		if err := mail.Receipt(p).Render(context.Background(), &page); err != nil {
			t.Fatal(err)
		}
		text := mail.ReceiptText(p)
		for _, id := range []string{"receipt_paid", "receipt_date", "receipt_see", "receipt_page", "receipt_test"} {
			said := words.Say(lang, id)
			if !strings.Contains(text, said) || !strings.Contains(page.String(), templ.EscapeString(said)) {
				t.Errorf("%s: %q is not in both forms", lang, said)
			}
		}
		for _, one := range [][2]string{{"item", p.Item}, {"receipt_merchant_reference", p.BusinessReference},
			{"receipt_rate", p.Rate}} {
			name := words.Say(lang, one[0])
			if !strings.Contains(text, "\n"+name+": "+one[1]+"\n") ||
				!strings.Contains(page.String(), ">"+templ.EscapeString(name)+"</th>") ||
				!strings.Contains(page.String(), "<bdi>"+one[1]+"</bdi>") {
				t.Errorf("%s: %s: %s is not in both forms:\n%s", lang, name, one[1], text)
			}
		}
		if !strings.Contains(page.String(), `href="`+p.ExplorerURL+`"`) || !strings.Contains(text, ": "+p.ExplorerURL+"\n") {
			t.Errorf("%s: the link to the transaction is not in both forms:\n%s", lang, text)
		}
		if lang != "en" && (strings.Contains(text, "Thank you") || strings.Contains(page.String(), "Sent by")) {
			t.Errorf("%s: English is left:\n%s", lang, text)
		}
		if !strings.Contains(page.String(), `dir="`+words.Direction(lang)+`"`) {
			t.Errorf("%s runs the wrong way", lang)
		}
	}
}
