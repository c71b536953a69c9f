package overview

import (
	"regexp"
	"slices"
	"strings"

	"cointill/handlers/page"
)

const (
	// hiddenCookie is the cookie that remembers in which businesses and domains a browser hides the steps of setting up.
	hiddenCookie = "hidden_steps"
	// maxHidden bounds what it remembers; the oldest are forgotten.
	maxHidden = 10
)

// isPlace is the form in which placeOf names a place.
var isPlace = regexp.MustCompile(`^BUS_[0-9A-Z]{1,40}\.(test|live)$`)

// hidesSteps reports that the browser hides the steps of setting up a business in the domain.
func hidesSteps(c *page.Ctx) bool {
	return slices.Contains(readHidden(c), placeOf(c))
}

// placeOf names a business and its domain.
func placeOf(c *page.Ctx) string { return c.Member.Business.Code + "." + string(c.Scope.Domain) }

func readHidden(c *page.Ctx) (places []string) {
	for place := range strings.SplitSeq(c.Cookies(hiddenCookie), "~") {
		if isPlace.MatchString(place) {
			places = append(places, place)
		}
	}
	return places
}

// hideSteps hides the steps of setting up in this browser, or shows them again.
func (h *Handlers) hideSteps(c *page.Ctx) error {
	places := slices.DeleteFunc(readHidden(c), func(place string) bool { return place == placeOf(c) })
	if c.FormText("hide") == "yes" {
		places = append(places, placeOf(c))
	}
	places = places[max(0, len(places)-maxHidden):]
	c.RememberChoice(hiddenCookie, strings.Join(places, "~"), "/dashboard")
	return c.Redirect("/dashboard")
}
