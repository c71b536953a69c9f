package views_test

import (
	"github.com/a-h/templ"

	"cointill/views/dashboard"
)

// posterPages are the printed page of a link in both sizes, and of one that
// can't be paid.
func posterPages() map[string]templ.Component {
	p := dashboard.PosterProps{ID: "1", Merchant: "Sunbird Coffee", Title: "Bag of beans", Amount: "₦25,000.00", Coins: "BTC, ETH, USDT, XRP, DOGE",
		Address: "pay.example/l/b3anz7", QR: qr("https://pay.example/l/b3anz7"), Size: "a5", Lang: "en", State: "open"}
	pages := map[string]templ.Component{"poster": dashboard.Poster(p)}
	p.Lang, p.Size, p.Test, p.Amount, p.Least, p.Most = "ar", "a4", true, "", "₦500.00", "₦20,000.00"
	pages["poster-a4-ar"] = dashboard.Poster(p)
	p.Lang, p.State, p.Title = "fr", "expired", "Cotisation annuelle de l'association des parents d'élèves de l'école primaire"
	pages["poster-closed"] = dashboard.Poster(p)
	return pages
}
