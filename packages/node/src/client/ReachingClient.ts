/**
 * The HTTP client of `GuardedHttpClient`. The client reads from the fiber which addresses a request may reach (`Reach.current`), and sends
 * the request with the dispatcher for these addresses. This module checks the host in the URL. `Dispatchers` checks the addresses to which
 * a name resolves.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as PlatformError from "@effect-mcp/core/unstable/client/PlatformError"
import * as Reach from "@effect-mcp/core/unstable/client/Reach"
import * as EffectInternals from "@effect-mcp/core/unstable/kit/EffectInternals"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Dispatchers from "./Dispatchers.js"

export interface Settings {
  readonly resolve: Dispatchers.Resolve
  readonly environment: Dispatchers.Environment
}

export const layer = ({ environment, resolve }: Settings): Layer.Layer<HttpClient.HttpClient> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const proxies = Dispatchers.proxiesOf(environment)
    if (typeof proxies === "string") return yield* Effect.dieMessage(proxies)
    const dispatchers = yield* Effect.acquireRelease(
      Effect.sync(() => Dispatchers.make(proxies, resolve)),
      (all) => Effect.promise(() => all.close())
    )
    const client = HttpClient.makeWith(
      (request: Effect.Effect<HttpClientRequest>) => Effect.flatMap(request, (one) => execute(dispatchers, one)),
      Effect.succeed
    )
    return HttpClient.layerMergedContext(Effect.succeed(client))
  }))

const execute = (
  dispatchers: Dispatchers.Dispatchers,
  request: HttpClientRequest
): Effect.Effect<HttpClientResponse, PlatformError.PlatformError> =>
  Effect.flatMap(EffectInternals.valueOf(Reach.current), (reach) => {
    const cause = URL.canParse(request.url) ? Dispatchers.problemOf(reach, new URL(request.url).hostname) : undefined
    return cause === undefined
      ? dispatchers.clientFor(reach).execute(request)
      : Effect.fail(PlatformError.notSent(request, cause))
  })
