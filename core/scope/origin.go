package scope

import "context"

// Origin is from where a request came: what the audit log says beside who acted.
// The zero one is Cointill itself, or the operator at the command line.
type Origin struct {
	IP      string
	Agent   string // what the browser or program calls itself
	Request string // req_…
}

type originKey struct{}

// WithOrigin notes in a request's context from where it came. It travels there
// and not in the Scope, because refusals are recorded before there is a scope.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is from where the request of a context came.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin) // none is the zero one
	return o
}
