package people

import (
	"testing"
)

func TestSection(t *testing.T) {
	for path, want := range map[string]string{
		"/dashboard/payments/PAY_1?x=1": "/dashboard/payments", "/dashboard": "/dashboard", "/dashboard?x": "/dashboard",
		"/dashboard/links/3/edit": "/dashboard/links", "/elsewhere": "/dashboard", "//evil.example/dashboard/keys": "/dashboard",
		"/dashboard/nothing": "/dashboard", "": "/dashboard", "/dashboard/../x": "/dashboard",
	} {
		if got := section(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
