import { assert, describe, it } from "@effect/vitest"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import { Context, Scope } from "effect"
import * as EffectInternals from "../../../src/kit/EffectInternals.js"
import * as Pipeline from "../../../src/server/runtime/Pipeline.js"
import { RequestScope } from "../../../src/server/runtime/RequestScope.js"

class A extends Context.Tag("A")<A, string>() {}
class B extends Context.Tag("B")<B, string>() {}
class C extends Context.Tag("C")<C, string>() {}

const request = {} as ServerSessionService

const services = (...of: ReadonlyArray<readonly [{ readonly key: string }, unknown]>): Context.Context<never> =>
  Context.unsafeMake(new Map(of.map(([{ key }, value]) => [key, value])))

const made = (
  captured: Context.Context<never>,
  session: Context.Context<never>,
  origin: Pipeline.Handler["origin"] = {},
  scope = new RequestScope()
) => Pipeline.servicesOf(captured, session, { ...request, origin }, scope)

describe("The context of a handler", () => {
  it("prefers the session's services to those of the layer, and the user to both", () => {
    const context = made(
      services([A, "captured"], [B, "captured"], [C, "captured"]),
      services([B, "session"], [C, "session"]),
      { user: services([C, "user"]) }
    )
    assert.deepStrictEqual([A, B, C].map(({ key }) => context.get(key)), ["captured", "session", "user"])
  })

  it("prefers the services that came with the HTTP request to those of the layer, and the session's to both", () => {
    const given = { services: services([B, "given"], [C, "given"]) }
    const context = made(services([A, "captured"], [B, "captured"]), services([C, "session"]), given)
    assert.deepStrictEqual([A, B, C].map(({ key }) => context.get(key)), ["captured", "given", "session"])
  })

  it("prefers the request's own services to all others", () => {
    const other = { other: true }
    const everywhere = services([RequestContext, other], [ServerSession, other], [Scope.Scope, other])
    const scope = new RequestScope()
    const origin = { services: everywhere, user: everywhere }
    const context = made(everywhere, everywhere, origin, scope)
    assert.deepInclude(context.get(RequestContext.key) as object, { origin })
    assert.strictEqual(context.get(ServerSession.key), context.get(RequestContext.key))
    assert.strictEqual(context.get(Scope.Scope.key), scope)
  })

  it("does not change its sources", () => {
    const captured = services([A, "captured"])
    const session = services([B, "session"])
    made(captured, session, { services: services([C, "given"]) })
    assert.deepStrictEqual([EffectInternals.entries(captured).size, EffectInternals.entries(session).size], [1, 1])
  })
})
