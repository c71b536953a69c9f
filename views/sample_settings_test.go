package views_test

import (
	"github.com/a-h/templ"

	"cointill/static"
	"cointill/views/dashboard"
	"cointill/views/ui"
)

// settingsPages are the settings, as they stand and with a form that was refused.
func settingsPages() map[string]templ.Component {
	page := dashboard.SettingsProps{Page: shell("Settings", "settings"), Letter: "S", Zones: []string{"Africa/Lagos", "Africa/Nairobi"},
		Depths: []dashboard.DepthRow{{Coin: "BTC", Name: "Bitcoin", UsualSmall: "2", UsualLarge: "3", Most: "200"}, {Coin: "ETH", Name: "Ether", UsualSmall: "12", UsualLarge: "12", Most: "200", Finalized: true}}}
	page.Profile.Values = map[string]string{"name": "Sunbird Coffee", "contact_email": "help@sunbird.example", "support_url": "https://sunbird.example/help"}
	page.Rules.Values = map[string]string{"under": "0.5", "over": "0", "late_payments": "accept", "currency": "NGN", "time_zone": "Africa/Lagos"}
	page.Confirmations.Values = map[string]string{"BTC_small": "2", "BTC_large": "6", "ETH_small": "12", "ETH_large": "12"}
	page.Mails.Values = map[string]string{"receipts": "true", "webhook_off": "true", "chain_unhealthy": "true"}
	refused := page
	refused.LogoPath = static.URL("img/favicon.svg")
	refused.Logo.Errors = map[string][]string{"logo": {"The picture has more than 8 million pixels. Make it smaller first: 512 on its longer side are enough."}}
	refused.Rules = ui.Form{Values: map[string]string{"under": "7", "over": "0", "time_zone": "Mars"}, Errors: map[string][]string{"under": {"Must be between 0 and 5 percent, with at most two decimals."}, "time_zone": {"Is no time zone. Choose one of the list, such as Africa/Lagos."}}}
	return map[string]templ.Component{"settings": dashboard.Settings(page), "settings-refused": dashboard.Settings(refused)}
}
