package display

import (
	"context"

	"cointill/core/scope"
	"cointill/views/words"
)

// AccountPath is the page of the user's own account.
const AccountPath = "/dashboard/account"

// DescribeRole says what a role is for.
func DescribeRole(ctx context.Context, role scope.Role) string {
	switch role {
	case scope.Owner:
		return words.T(ctx, "team.role_owner")
	case scope.Admin:
		return words.T(ctx, "team.role_admin")
	case scope.Finance:
		return words.T(ctx, "team.role_finance")
	case scope.Developer:
		return words.T(ctx, "team.role_developer")
	case scope.Till:
		return words.T(ctx, "team.role_till")
	}
	return ""
}
