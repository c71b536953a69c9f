package views_test

import (
	"regexp"
	"strings"
	"testing"

	"cointill/static"
)

var (
	worn     = regexp.MustCompile(`\sclass="([^"]*)"`)
	selector = regexp.MustCompile(`\.((?:[A-Za-z_-]|\\.)(?:[\w-]|\\.)*)`)

	everyClass    = styled("css/cointill.css")
	checkoutClass = styled("css/checkout.css")
)

// styled are the classes that a stylesheet has a rule for.
func styled(name string) map[string]bool {
	file, _ := static.Open(strings.TrimPrefix(static.URL(name), static.Prefix))
	classes := map[string]bool{}
	for _, found := range selector.FindAllSubmatch(file.Body, -1) {
		classes[strings.ReplaceAll(string(found[1]), `\`, "")] = true
	}
	return classes
}

// dressed finds a class of a customer's page that the whole stylesheet has a rule
// for, and the customer's small one has not.
func dressed(t *testing.T, html string) {
	t.Helper()
	if !strings.Contains(html, static.URL("css/checkout.css")) {
		return
	}
	for _, found := range worn.FindAllStringSubmatch(html, -1) {
		for class := range strings.FieldsSeq(found[1]) {
			if everyClass[class] && !checkoutClass[class] {
				t.Errorf("class %q is not in checkout.css: see tailwind.checkout.js and static/css/pay.css", class)
			}
		}
	}
}
