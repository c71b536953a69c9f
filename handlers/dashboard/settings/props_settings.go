package settings

import (
	"strconv"
	"strings"

	"cointill/core/money"
	"cointill/core/quote"
	"cointill/core/settings"
	"cointill/handlers/dashboard/display"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
)

// zones are offered first; any other of the IANA database may be typed.
var zones = []string{"Africa/Abidjan", "Africa/Accra", "Africa/Addis_Ababa", "Africa/Algiers", "Africa/Cairo",
	"Africa/Casablanca", "Africa/Dakar", "Africa/Dar_es_Salaam",
	"Africa/Johannesburg", "Africa/Kampala", "Africa/Kigali", "Africa/Kinshasa", "Africa/Lagos", "Africa/Luanda",
	"Africa/Lusaka", "Africa/Nairobi", "Africa/Tunis",
	"America/New_York", "America/Sao_Paulo", "Asia/Dubai", "Asia/Kolkata", "Asia/Shanghai", "Europe/Berlin",
	"Europe/Lisbon", "Europe/London", "Europe/Paris", "UTC"}

// listRaisable lists the coins whose payments may be made to wait longer.
func listRaisable() (list []money.Coin) {
	for _, info := range money.Coins() {
		if _, open := settings.Depths(nil).UsualDepth(info.Coin); open {
			list = append(list, info.Coin)
		}
	}
	return list
}

// settingsProps is the page of the settings: the form of a name as it was typed,
// the others as things stand.
func settingsProps(shell layout.Page, b models.Business, operators settings.Depths, name string,
	typed ui.Form) dashboard.SettingsProps {
	props := dashboard.SettingsProps{Page: shell, LogoPath: settings.LogoPath(b), Letter: ui.FirstLetter(b.Name),
		Zones: zones}
	props.Profile.Values = map[string]string{"name": b.Name, "contact_email": b.ContactEmail,
		"support_url": b.SupportURL}
	props.Rules.Values = map[string]string{"under": quote.Percent(b.UnderTolerance),
		"over": quote.Percent(b.OverTolerance), "late_payments": b.LatePayments,
		"currency": display.FirstCurrency(b), "time_zone": b.TimeZone}
	props.Confirmations.Values = map[string]string{}
	depths := operators.DepthsOf(b)
	for _, coin := range listRaisable() {
		usual, _ := operators.UsualDepth(coin)
		row := dashboard.DepthRow{Coin: string(coin), Name: coin.Info().Name, UsualSmall: strconv.Itoa(usual.Small),
			UsualLarge: strconv.Itoa(usual.Large), Most: strconv.Itoa(settings.MaxDepth)}
		row.Finalized = coin == money.ETH || coin == money.USDT
		props.Depths = append(props.Depths, row)
		props.Confirmations.Values[row.Small()],
			props.Confirmations.Values[row.Large()] = strconv.Itoa(depths[coin].Small), strconv.Itoa(depths[coin].Large)
	}
	props.Mails.Values = map[string]string{"receipts": strconv.FormatBool(b.ReceiptsEnabled),
		"statements": strings.ReplaceAll(b.StatementMails, ",", ", ")}
	for _, kind := range settings.MutableMails() {
		props.Mails.Values[kind] = strconv.FormatBool(settings.WantsMail(b, kind))
	}
	switch name {
	case profileForm:
		props.Profile = typed
	case logoForm:
		props.Logo = typed
	case rulesForm:
		props.Rules = typed
	case confirmationsForm:
		props.Confirmations = typed
	case mailsForm:
		props.Mails = typed
	}
	return props
}

// parseTolerance reads percent as basis points; -1, which core refuses, for anything else.
func parseTolerance(text string) int {
	n, ok := display.ParseBasisPoints(text)
	if !ok {
		return -1
	}
	return n
}
