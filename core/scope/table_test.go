package scope_test

import (
	"strings"
	"testing"

	"cointill/core/fault"
	"cointill/core/scope"
)

// TestTable writes contract section 9 down a second time, as people read it:
// ✓ everywhere, t in test only, – nowhere; owner, admin, finance, developer, api, system, till.
func TestTable(t *testing.T) {
	want := map[scope.Action]string{
		scope.SeePayments: "✓✓✓t✓✓–", scope.StartPayments: "✓✓–t✓✓✓", scope.ResolvePayment: "✓✓–––✓–",
		scope.DecidePayment: "✓✓––✓✓–",
		scope.DriveSandbox:  "tt–ttt–", scope.SeeLinks: "✓✓✓t✓✓–", scope.ManageLinks: "✓✓–t✓✓–",
		scope.SeeWebhooks: "✓✓–✓✓✓–", scope.ManageWebhooks: "✓✓–t✓✓–", scope.ManageKeys: "✓✓–t–✓–",
		scope.SeeMethods: "✓✓✓✓✓✓–", scope.ToggleMethods: "✓✓–––✓–", scope.SetReceiving: "✓––––✓–",
		scope.ManageBusiness: "✓✓–––✓–", scope.SeeAudit: "✓✓–––✓–",
		scope.SeeBooks: "✓✓✓–✓✓–", scope.CloseMonths: "✓✓✓––✓–",
		scope.SeeSends: "✓✓✓t✓✓–", scope.AskSends: "✓✓✓t✓✓–", scope.ApproveSends: "✓✓–––✓–", scope.SignSends: "✓✓––✓✓–",
		scope.EraseCustomers: "✓––––✓–",
		scope.UseTill:        "✓✓–––✓✓", scope.SetTillPIN: "✓––––✓–",
	}
	if len(want) != len(scope.Actions()) {
		t.Fatalf("%d actions, %d expectations", len(scope.Actions()), len(want))
	}
	roles := []scope.Role{scope.Owner, scope.Admin, scope.Finance, scope.Developer, scope.API, scope.System, scope.Till}
	for _, action := range scope.Actions() {
		got := ""
		for _, role := range roles {
			test := scope.Scope{BusinessID: 1, Domain: scope.Test, Role: role}.CheckAction(action)
			live := scope.Scope{BusinessID: 1, Domain: scope.Live, Role: role}.CheckAction(action)
			switch {
			case test == nil && live == nil:
				got += "✓"
			case test == nil && fault.KindOf(live) == fault.Forbidden:
				got += "t"
			case fault.KindOf(test) == fault.Forbidden && fault.KindOf(live) == fault.Forbidden:
				got += "–"
			default:
				got += "?"
			}
		}
		if got != want[action] {
			t.Errorf("%s: %s, want %s", action, got, want[action])
		}
	}
}

func TestZeroScopeMayNothing(t *testing.T) {
	if err := (scope.Scope{Role: scope.System}).CheckAction(scope.SeePayments); err != scope.ErrZero {
		t.Error(err)
	}
	if err := (scope.Scope{BusinessID: 1, Domain: scope.Test, Role: scope.Owner}).CheckAction("made_up"); !strings.Contains(err.Error(), "role_not_allowed") {
		t.Error(err)
	}
}
