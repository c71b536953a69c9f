package ui

// icons are drawn on a grid of 24, with a stroke of 2, by us.
var icons = map[string]string{
	"overview":     "M4 20V11M10 20V4M16 20v-7M21 20H3",
	"payments":     "M4 7h13m-3-3 3 3-3 3M20 17H7m3-3-3 3 3 3",
	"links":        "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.2 1.2M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.2-1.2",
	"methods":      "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9 9.5h4.5a2 2 0 0 1 0 4H10v3M10 7.5v9",
	"rates":        "M4 4v16h16M7 15l4-5 4 3 5-7",
	"webhooks":     "M12 8a3 3 0 1 0-2.6-1.5L6 13M12 8l3.5 6M6 13a3 3 0 1 0 3 3h6.5M15.5 14a3 3 0 1 1 .1 5",
	"keys":         "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8M11 12l9-9M16 7l3 3",
	"team":         "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M2.5 20a6.500 6.500 0 0 1 13 0M16 5.500a3.500 3.500 0 0 1 0 6.500M18 14.500a6.500 6.500 0 0 1 3.500 5.500",
	"mailbox":      "M3 6h18v12H3zM3 7l9 7 9-7",
	"unmatched":    "M4 12h6M14 12h6M10 8l4 8M12 3v2M12 19v2",
	"audit":        "M6 3h12v18H6zM9 8h6M9 12h6M9 16h3",
	"statements":   "M4 4h16v16H4zM4 9h16M10 9v11",
	"settings":     "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
	"system":       "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
	"docs":         "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7",
	"copy":         "M9 9h11v11H9zM5 15H4V4h11v1",
	"check":        "M5 12.5l4.5 4.5L19 7",
	"check-circle": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M8 12.300l2.8 2.800L16 9.5",
	"x":            "M6 6l12 12M18 6L6 18",
	"x-circle":     "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M9 9l6 6M15 9l-6 6",
	"warning":      "M12 4 2.5 20h19zM12 10v4M12 17v.01",
	"info":         "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 11v5M12 8v.01",
	"diamond":      "M12 3l9 9-9 9-9-9zM12 8.500v4M12 15.500v.01",
	"ring":         "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16",
	"ring-dashed":  "M9 4.600a8 8 0 0 1 6 0M19.4 9a8 8 0 0 1 0 6M15 19.400a8 8 0 0 1-6 0M4.6 15a8 8 0 0 1 0-6",
	"eye":          "M2.5 12S6 6 12 6s9.5 6 9.5 6-3.5 6-9.5 6-9.5-6-9.5-6M12 9.500a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5",
	"half":         "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 4v16M12 8l5-2M12 12h8M12 16l5 2",
	"moon":         "M19 14.500A8 8 0 0 1 9.5 5 8 8 0 1 0 19 14.5",
	"hourglass":    "M7 3h10M7 21h10M8 3c0 5 8 6 8 9s-8 4-8 9M16 3c0 5-8 6-8 9s8 4 8 9",
	"menu":         "M4 7h16M4 12h16M4 17h16",
	"search":       "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l4.5 4.5",
	"plus":         "M12 5v14M5 12h14",
	"arrow":        "M5 12h14M13 6l6 6-6 6",
	"back":         "M19 12H5M11 6l-6 6 6 6",
	"flask":        "M9 3h6M10 3v6L4.5 18.500A1.7 1.7 0 0 0 6 21h12a1.7 1.7 0 0 0 1.5-2.500L14 9V3M7.5 15h9",
	"theme":        "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 3v18M12 7l4-2M12 11h8.500M12 15h8",
	"out":          "M14 4H5v16h9M10 12h11M17 8l4 4-4 4",
	"wallet":       "M4 7h16v13H4zM4 7l11-4v4M16 13.500h.01",
	"bell":         "M6 16.500V11a6 6 0 0 1 12 0v5.500l2 2H4zM10 21h4",
	"clock":        "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3 2",
	"tag":          "M4 4h8l8 8-8 8-8-8zM8.5 8.500h.01",
	"send":         "M21 4 3 11l7 3 3 7zM10 14l5-5",
	"user":         "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4.5 20a7.5 7.5 0 0 1 15 0",
	"lock":         "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
}

func iconPath(name string) string {
	if path, ok := icons[name]; ok {
		return path
	}
	return icons["ring"]
}

// mark is a drawing in white lines on a disc, of 24 by 24 units.
type mark struct{ path, fill string }

// The marks of coins and networks are drawn for Cointill, in lines, after the signs by which wallets show them. The
// signs are their owners'; no file of theirs is used.
var (
	coins = map[string]mark{
		"BTC":  {"M10 7h3.3a2.4 2.4 0 0 1 0 4.8H10zM10 11.8h4a2.5 2.5 0 0 1 0 5H10zM8.2 7H10M8.2 16.8H10M11 5v2M13.4 5v2M11 16.8v2M13.4 16.8v2", "#9a5b00"},
		"ETH":  {"M12 4.5l4.7 7.6-4.7 2.7-4.7-2.7zM7.6 14.5 12 20l4.4-5.5L12 17z", "#4f55a8"},
		"USDT": {"M7.5 6.5h9M12 6.5V18M12 9c3.4 0 6 .8 6 1.9s-2.6 1.9-6 1.9-6-.8-6-1.9S8.6 9 12 9", "#1b6b57"},
		"XRP":  {"M6.5 6.5l2.8 2.7a3.9 3.9 0 0 0 5.4 0l2.8-2.7M6.5 17.5l2.8-2.7a3.9 3.9 0 0 1 5.4 0l2.8 2.7", "#33424f"},
		"DOGE": {"M9.5 6.5h2.7a5.5 5.5 0 0 1 0 11H9.5zM7 12h5", "#7a6415"},
	}
	networks = map[string]mark{
		"arbitrum": {"M12 4.5l6.5 3.75v7.5L12 19.5l-6.5-3.75v-7.5zM9 15l3-6.5 3 6.5", "#1f4e79"},
		"base":     {"M12 5.5a6.5 6.5 0 1 1-6.3 8.1H14v-3.2H5.7A6.5 6.5 0 0 1 12 5.5", "#1746b8"},
		"bsc":      {"M12 5l2.5 2.5L12 10 9.5 7.5zM12 14l2.5 2.5L12 19l-2.5-2.5zM7 9.5 9.5 12 7 14.5 4.5 12zM17 9.5l2.5 2.5-2.5 2.5-2.5-2.5z", "#7a5c00"},
		"celo":     {"M6 6h12v4h-2.5a4 4 0 1 0 0 4H18v4H6z", "#5f5a00"},
		"polygon":  {"M8.5 8.5l3 1.75v3.5l-3 1.75-3-1.75v-3.5zM15.5 8.5l3 1.75v3.5l-3 1.75-3-1.75v-3.5z", "#5b2fb0"},
		"tron":     {"M5.5 5.5l10.5 2 3 3.3-7.5 8.7zM5.5 5.5l6.7 6.7-.7 7.3M12.2 12.2 19 10.8M12.2 12.2 16 7.5", "#a3122a"},
	}
)

// unknown is the mark of a coin or network without one.
var unknown = mark{"M9 9.5a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5h.01", "#5f584c"}

// networkCoins are the coins whose mark is their network's, too.
var networkCoins = map[string]string{"bitcoin": "BTC", "ethereum": "ETH", "xrp": "XRP", "dogecoin": "DOGE"}

func coinMark(symbol string) mark {
	if found, ok := coins[symbol]; ok {
		return found
	}
	return unknown
}

func networkMark(code string) mark {
	if found, ok := networks[code]; ok {
		return found
	}
	return coinMark(networkCoins[code])
}
