/**
 * Checks whether the user of a request has the authorization scopes that a feature requires. The option `permit` of the `Authenticator`
 * decides. `Authentication` adds this function to the services of the user, as a private service. Without `permit`, every use that requires
 * a scope is refused.
 *
 * `features/Surroundings` checks before a handler runs, and `dispatch/Stages` checks before the response of an HTTP request begins.
 * `legacy/GuardedCalls` and `TaskViewer` check the scopes of the calls and tasks that a message names.
 */
import type * as Context from "effect/Context"
import * as ContextOf from "effect/Context"
import * as Effect from "effect/Effect"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import * as EffectInternals from "../../kit/EffectInternals.js"
import type { Refuses } from "../Authenticator.js"
import { HttpRefusal } from "../HttpRefusal.js"

/** Gives the refusal of a use that requires these scopes; `undefined` when the user has the scopes. */
export type Permit = (scopes: ReadonlyArray<string>) => Refuses | undefined

const Permit = ContextOf.GenericTag<Permit>("@effect-mcp/core/server/Permit")

export const add = (user: Context.Context<never>, permit: Permit): Context.Context<never> =>
  ContextOf.add(user, Permit, permit) as Context.Context<never>

/** Gives the refusal for the user in these services; `undefined` when the user has these scopes. */
export const refusal = (
  services: Context.Context<never> | undefined,
  scopes: ReadonlyArray<string>
): Refuses | undefined => {
  const permit = services === undefined
    ? undefined
    : EffectInternals.entries(services).get(Permit.key) as Permit | undefined
  return permit !== undefined ? permit(scopes) : scopes.length === 0 ? undefined : unanswered(scopes)
}

/** Fails with the refusal when the user of the request does not have these scopes. */
export const check = (scopes: ReadonlyArray<string>): Effect.Effect<void, Refuses> =>
  Effect.contextWithEffect((services: Context.Context<never>) => {
    const refused = refusal(services, scopes)
    return refused === undefined ? Effect.void : Effect.fail(refused)
  })

const unanswered = (scopes: ReadonlyArray<string>): HttpRefusal =>
  new HttpRefusal({
    status: 403,
    error: {
      code: JsonRpcError.UNAVAILABLE,
      message:
        `Forbidden: this requires the ${scopes.length === 1 ? "scope" : "scopes"} ${scopes.join(" ")}, and the ` +
        "server cannot check the scopes of its users: its Authenticator needs the option permit"
    }
  })
