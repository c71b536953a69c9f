package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"cointill/core/account/apikey"
	"cointill/core/fault"
	"cointill/core/idempotency"
	"cointill/core/limit"
	"cointill/core/scope"
	"cointill/handlers/api/body"
	"cointill/handlers/page"
)

// unauthenticatedPerMinute is how many requests without a good key one address may make in a minute.
const unauthenticatedPerMinute = 300

// call is one request of a merchant's program, with whose it is.
type call struct {
	api   *service
	op    *operation
	fiber *fiber.Ctx
	ctx   context.Context
	scope scope.Scope
	key   apikey.KeyInfo
	// warnings stand in the answer of a success: what the request had better said otherwise.
	warnings []string
}

// handler answers a call or says why not.
type handler func(*call) error

// handleOperation makes the handler of an operation: it checks the key and the rate limit, and answers.
func (s *service) handleOperation(op *operation) fiber.Handler {
	return func(c *fiber.Ctx) error {
		call := &call{api: s, op: op, fiber: c, ctx: c.UserContext()}
		if err := call.admitCall(); err != nil {
			return err
		}
		if err := call.checkParameterNames(); err != nil {
			return err
		}
		return op.run(call)
	}
}

// admitCall finds the scope of the request's key, counts the request and checks the key's permission.
func (c *call) admitCall() error {
	sc, key, err := c.api.Keys.Authenticate(c.ctx, c.fiber.Get(fiber.HeaderAuthorization))
	if err != nil && fault.KindOf(err) == fault.Internal {
		return err // the key could not be looked up
	}
	var standing limit.Result
	if err == nil {
		standing = c.api.Limits.Take(fmt.Sprintf("key:%d", key.ID), c.api.PerMinute)
	} else {
		client, _ := c.fiber.Locals(page.LocalClientIP).(string)
		standing = c.api.Limits.TakeFrom("stranger", client, unauthenticatedPerMinute)
	}
	c.fiber.Set("RateLimit-Policy", standing.PolicyHeader())
	c.fiber.Set("RateLimit", standing.StandingHeader())
	if err := standing.Err(); err != nil {
		return err
	}
	c.scope, c.key = sc, key
	c.fiber.Locals(page.LocalBusiness, sc.BusinessID)
	if err != nil {
		return err
	}
	c.fiber.Locals(page.LocalCaller, sc)
	return key.CheckPermission(c.op.Permission)
}

// readBody reads the request's body as body.Read does. Names that are not fields become warnings.
func readBody[T any](c *call) (T, fault.Fields, error) {
	request, problems, unknown, err := body.Read[T](c.fiber.Body())
	c.warnings = append(c.warnings, body.WarnOfFields(unknown, reflect.TypeFor[T]())...)
	return request, problems, err
}

// readValidBody reads the body of a request whose values core checks one by one: it refuses a body with a field of
// another shape.
func readValidBody[T any](c *call) (T, error) {
	request, problems, err := readBody[T](c)
	if err != nil {
		return request, err
	}
	return request, body.JoinRefusals(problems, nil)
}

// runRead returns the handler of an operation that reads one thing: find asks core for it, show makes the answer's
// data of it.
func runRead[T any](find func(*call) (T, error), show func(*call, T) (any, error)) handler {
	return func(c *call) error {
		found, err := find(c)
		if err != nil {
			return err
		}
		data, err := show(c, found)
		if err != nil {
			return err
		}
		return c.writeAnswer(data, nil)
	}
}

// passParam returns what an operation asks of core, with a parameter of the path: do gets it. thing is what the
// parameter names.
func passParam[T any](name, thing string, do func(c *call, id string) (T, error)) func(*call) (T, error) {
	return func(c *call) (result T, err error) {
		id, err := c.readParam(name, thing)
		if err != nil {
			return result, err
		}
		return do(c, id)
	}
}

// runEffect returns the handler of an operation that changes something: do asks core
// for the change, show makes the answer's data of what core returned. A POST
// that carries an Idempotency-Key happens once: core stores the answer with the
// effect (idempotency.Do and Around), and these bytes are sent now and at every
// repetition.
func runEffect[T any](do func(*call) (T, error), show func(*call, T) (any, error)) handler {
	return func(c *call) error {
		render := func(result any) (idempotency.Answer, error) {
			made, ok := result.(T)
			if !ok {
				return idempotency.Answer{}, fmt.Errorf("api: %s gave a %T to show", c.op.ID, result)
			}
			data, err := show(c, made)
			if err != nil {
				return idempotency.Answer{}, err
			}
			body, err := c.encodeEnvelope(data, nil)
			return idempotency.Answer{Status: c.op.Status, Body: body}, err
		}
		claim, before, err := c.claimKey()
		if err != nil {
			return err
		}
		if before != nil {
			return c.replayAnswer(*before)
		}
		c.ctx = idempotency.With(c.ctx, claim, render)
		made, err := do(c)
		var twin *idempotency.Answered
		if errors.As(err, &twin) {
			return c.replayAnswer(twin.Answer)
		}
		if err != nil {
			return err
		}
		if stored := claim.Answer(); stored != nil {
			return sendBody(c.fiber, stored.Status, stored.Body)
		}
		if claim != nil {
			return fmt.Errorf("api: %s stored no answer for its idempotency key", c.op.ID)
		}
		answer, err := render(made)
		if err != nil {
			return err
		}
		return sendBody(c.fiber, answer.Status, answer.Body)
	}
}

// claimKey claims the request's Idempotency-Key, nil without one, and
// finds the answer that was given before.
func (c *call) claimKey() (*idempotency.Claim, *idempotency.Answer, error) {
	keys := c.fiber.Request().Header.PeekAll("Idempotency-Key")
	if c.op.Method != http.MethodPost || len(keys) == 0 {
		return nil, nil, nil
	}
	if len(keys) > 1 {
		return nil, nil, fault.RefuseField("Idempotency-Key", "May be sent only once.")
	}
	claim, err := c.api.Answers.Claim(c.scope, string(keys[0]), c.op.Method, c.fiber.Path(), c.fiber.Body())
	if err != nil {
		return nil, nil, err
	}
	before, err := c.api.Answers.Replay(c.ctx, claim)
	return claim, before, err
}

// replayAnswer sends the answer that was given before.
func (c *call) replayAnswer(before idempotency.Answer) error {
	c.fiber.Set("Idempotency-Replayed", "true")
	return sendBody(c.fiber, before.Status, before.Body)
}
