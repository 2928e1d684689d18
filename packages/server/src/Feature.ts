/**
 * A feature: a layer that registers entries with a server. Their handlers run with the context that the layer was built
 * with, and with the services of the request; where both have a service, a handler gets that of the request.
 *
 * @since 0.1.0
 */
import type { CallError } from "@effect-mcp/jsonrpc/Outbound"
import type { ExtendedResult } from "@effect-mcp/protocol/Extension"
import type { McpError } from "@effect-mcp/protocol/McpError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { RegistryService } from "./Registry.js"
import { Registry } from "./Registry.js"
import type { RequestContext } from "./RequestContext.js"
import type { ServerSession } from "./ServerSession.js"

/** A layer that registers entries with a server, and requires `R` for their handlers. */
export type Feature<R = never> = Layer.Layer<never, never, Registry | R>

/** The services of a request: a handler may use them, and its layer does not require them. */
export type RequestServices = RequestContext | ServerSession | Scope.Scope

/**
 * The failures that every handler may have beside those that its definition declares. The calling program receives them as
 * JSON-RPC errors. An `ExtendedResult` is no error: it answers the request with a result of an extension.
 */
export type Fails = McpError | CallError | ExtendedResult

type NameOf<E> = E extends { readonly _tag: infer Name extends string } ? Name
  : E extends string ? "a string"
  : "an error"

/**
 * Accepts the effect of a handler that fails with `E`, when its definition declares these failures. Otherwise it is a
 * sentence for the compiler to show, which names the failure and what to do.
 */
export type Declared<E, Failure = never> = [Exclude<E, Failure | Fails>] extends [never] ? unknown
  : [Failure] extends [never] ? `The handler fails with ${NameOf<
      Exclude<E, Failure | Fails>
    >}, which its definition does not declare: catch it, declare it as the "failure" of a tool, or fail with an McpError`
  : `The handler fails with ${NameOf<
    Exclude<E, Failure | Fails>
  >}, which its definition does not declare: catch it, or add it to the tool's "failure"`

/**
 * A feature from a function that registers its entries, until the layer's scope closes. The function gets the context that
 * the layer was built with, without the layer's `Scope`.
 */
export const make = <R = never>(
  register: (registry: RegistryService, context: Context.Context<never>) => Effect.Effect<void, never, Scope.Scope>
): Feature<R> =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const registry = yield* Registry
      const context = yield* Effect.context<R>()
      yield* register(registry, Context.omit(Scope.Scope)(context as Context.Context<any>) as Context.Context<never>)
    })
  )
