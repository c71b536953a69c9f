package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestVisitorsChooseALanguage: before sign-in the browser decides, then the choice at the foot, which
// is remembered; who signs up or joins gets the language of that page.
func TestVisitorsChooseALanguage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		b := s.NewBrowser()
		expect(t, b.Get("/sign-up"), 200, `<html lang="en"`, "Welcome to Cointill", `href="?lang=fr"`, "Français")
		b.Header["Accept-Language"] = "fr-CI,en;q=0.5"
		expect(t, b.Get("/sign-up"), 200, `<html lang="fr"`, "Bienvenue sur Cointill", `href="?lang=en"`, "English")
		expect(t, b.Get("/sign-up?lang=en&next=%2Fdashboard%2Fpayments"), 200, `<html lang="en"`,
			`href="?lang=fr&amp;next=%2Fdashboard%2Fpayments"`)
		expect(t, b.Get("/sign-up?lang=xx"), 200, `<html lang="en"`, "Welcome to Cointill")
		expect(t, b.Get("/sign-up?lang=fr"), 200, `<html lang="fr"`)
		b.Header["Accept-Language"] = "en"
		form := url.Values{"business_name": {"Chez Ama"}, "name": {"Ama"}, "email": {ama}, "password": {"court"}}
		expect(t, b.PostFrom("/sign-up", "/sign-up", form), 422, `<html lang="fr"`, "Pas encore enregistré")
		form.Set("password", servertest.Password)
		leads(t, b.PostFrom("/sign-up", "/sign-up", form), "/dashboard")
		expect(t, b.Get("/dashboard"), 200, `<html lang="fr"`, "Votre entreprise est prête", "Liens de paiement", "DONNÉES DE TEST")
		if n := rows(s, &models.User{}, "email = ? AND language = 'fr'", ama); n != 1 {
			t.Errorf("%d users with the language of the page that they signed up on, want 1", n)
		}
		other := s.SignIn(ama)
		expect(t, other.Get("/dashboard/payments"), 200, `<html lang="fr"`, "Rechercher des paiements")
		expect(t, other.Get("/dashboard/nothing"), 404, `<html lang="en"`)
	})
}

// TestMembersChooseALanguage: on the account page, for every browser and for mails; a language without
// files can't be chosen.
func TestMembersChooseALanguage(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		s.UseMailServer()
		sc := s.CreateBusiness("Ama's Shop", ama)
		b := s.SignIn(ama)
		expect(t, b.Get("/dashboard/account"), 200, `<html lang="en"`, `<option value="en" selected>English`, `<option value="fr">Français`)
		expect(t, b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"xx"}}), 404)
		leads(t, b.PostFrom("/dashboard/account", "/dashboard/account/language", url.Values{"language": {"fr"}}), "/dashboard/account")
		expect(t, b.Get("/dashboard/account"), 200, `<html lang="fr"`, "La langue a été enregistrée.", `<option value="fr" selected>Français`)
		expect(t, b.Get("/dashboard/audit"), 200, "Langue modifiée", "Depuis l'adresse")
		expect(t, b.Get("/dashboard/nothing"), 404, `<html lang="fr"`, "Introuvable")
		expect(t, s.SignIn(ama).Get("/dashboard"), 200, `<html lang="fr"`, "Vue d&#39;ensemble")
		b.PostFrom("/dashboard/account", "/sign-out", nil)
		expect(t, b.Get("/sign-in"), 200, `<html lang="fr"`, "Se connecter")

		in, err := s.Accounts.Invite(t.Context(), sc, bayo, scope.Finance)
		s.FailOn(err)
		if n := rows(s, &models.Mail{}, `to_address = ? AND subject LIKE ?`, bayo, "%vous invite dans%"); n != 1 {
			t.Errorf("%d invitations in the language of the person who invites, want 1", n)
		}
		guest := s.NewBrowser()
		path := in.Link[strings.Index(in.Link, "/invitation/"):]
		expect(t, guest.Get(path), 200, `<html lang="en"`, "invites you as")
		expect(t, guest.Get(path+"?lang=fr"), 200, `<html lang="fr"`, "vous invite avec le rôle")
		leads(t, guest.PostFrom(path, path, url.Values{"name": {"Bayo"}, "password": {servertest.Password}}), "/dashboard")
		expect(t, guest.Get("/dashboard"), 200, `<html lang="fr"`)
	})
}
