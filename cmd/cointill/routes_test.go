package main

import (
	"slices"
	"testing"

	"github.com/gofiber/fiber/v2"

	"cointill/handlers/checkout/checkouttest"
	"cointill/internal/app"
	"cointill/internal/testing/servertest"
	"cointill/models/modelstest"
)

// TestRoutes (AP-1) holds the program's routes against those of the server that the
// matrix of rights is asked on at its full size (handlers/dashboard): none is served that it doesn't know.
func TestRoutes(t *testing.T) {
	t.Parallel()
	i := serving(t, &app.Settings{})
	known, served := addresses(servertest.New(t, modelstest.Open(t, false, i.Clock), checkouttest.WirePages).App), addresses(i.Server.App())
	if !slices.Equal(known, served) || len(served) < 150 {
		t.Errorf("the matrix is asked on %d addresses, the program has %d:\n%q\n%q", len(known), len(served), known, served)
	}
}

// addresses are an app's routes, sorted, and without what it does at all of them.
func addresses(app *fiber.App) (list []string) {
	for _, r := range app.GetRoutes(true) {
		list = append(list, r.Method+" "+r.Path)
	}
	slices.Sort(list)
	return list
}
