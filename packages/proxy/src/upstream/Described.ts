/**
 * What a proxy adds to the description of its server. Until the upstream was reached, everything: a client keeps the
 * capabilities of its handshake, and must be able to use what the upstream turns out to have.
 */
import type { ClientSessionService } from "@effect-mcp/client/ClientSession"
import * as Edition from "@effect-mcp/jsonrpc/unstable/kit/Edition"
import type { Description, RegistryService } from "@effect-mcp/server/Registry"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"

/** How much of the instructions of an upstream is passed on, in characters. */
const MAX_INSTRUCTIONS = 65_536

export const unknown: Description = { offers: ["tools", "resources", "prompts", "completions"] }

export const of = (
  { instructions, serverCapabilities }: ClientSessionService,
  withInstructions: boolean
): Description => ({
  offers: unknown.offers.filter((kind) => serverCapabilities[kind] !== undefined),
  instructions: withInstructions ? instructions?.slice(0, MAX_INSTRUCTIONS) : undefined
})

/** Describes until the scope closes. The effect that it gives replaces the description. */
export const make = (
  registry: RegistryService
): Effect.Effect<(description: Description) => Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    let before: Scope.CloseableScope | undefined
    const set = (description: Description): Effect.Effect<void> =>
      Effect.gen(function*() {
        const next = yield* Edition.childOf(scope)
        yield* Scope.extend(registry.describe(description), next)
        if (before !== undefined) yield* Scope.close(before, Exit.void)
        before = next
      })
    yield* set(unknown)
    return set
  })
