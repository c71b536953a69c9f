package apikey

import (
	"slices"
	"strings"

	"cointill/core/fault"
	"cointill/core/scope"
)

// Permission is something that a key may do (contract section 2). Each endpoint of /v1 needs one.
type Permission string

// The permissions.
const (
	ReadPayments    Permission = "payments:read" // and payment methods, rates and the timeline
	WritePayments   Permission = "payments:write"
	ResolvePayments Permission = "payments:resolve" // accept and attach
	Links           Permission = "links"
	Webhooks        Permission = "webhooks" // and events
	ReadCustomers   Permission = "customers:read"
	ReadSends       Permission = "sends:read"
	WriteSends      Permission = "sends:write" // ask for and withdraw; people approve
	ReadReports     Permission = "reports:read"
)

// ListPermissions lists every permission, in the order in which pages show them.
func ListPermissions() []Permission {
	return []Permission{ReadPayments, WritePayments, ResolvePayments, Links, Webhooks, ReadCustomers, ReadSends,
		WriteSends, ReadReports}
}

// DefaultPermissions returns what a new key may do unless its maker chooses otherwise: all in the
// test domain, and in the live one all but what decides about money.
func DefaultPermissions(domain scope.Domain) []Permission {
	return slices.DeleteFunc(ListPermissions(), func(p Permission) bool {
		return domain == scope.Live && (p == ResolvePayments || p == WriteSends)
	})
}

// checkPermissions adds the errors in the permissions of a new key to fields.
func checkPermissions(chosen []Permission, fields fault.Fields) {
	if len(chosen) == 0 {
		fields.Add("permissions", "Choose at least one: a key without permissions can do nothing.")
	}
	for _, p := range chosen {
		if !slices.Contains(ListPermissions(), p) {
			fields.Add("permissions", "Must be of %s.", joinPermissions(ListPermissions(), ", "))
			return
		}
	}
}

// formatPermissions writes permissions as they are stored: in their order, with blanks between.
func formatPermissions(chosen []Permission) string {
	return joinPermissions(slices.DeleteFunc(ListPermissions(), func(p Permission) bool {
		return !slices.Contains(chosen, p)
	}), " ")
}

// parsePermissions reads stored permissions. One that this version doesn't know permits nothing.
func parsePermissions(text string) []Permission {
	stored := strings.Fields(text)
	return slices.DeleteFunc(ListPermissions(), func(p Permission) bool { return !slices.Contains(stored, string(p)) })
}

func joinPermissions(list []Permission, separator string) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = string(p)
	}
	return strings.Join(names, separator)
}
