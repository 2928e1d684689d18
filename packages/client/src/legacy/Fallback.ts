/**
 * Chooses between the two HTTP transports of the legacy era. A client that does not know which one a server implements sends
 * `initialize` over Streamable HTTP first; when the server refuses that, it tries HTTP+SSE of 2024-11-05.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
 */
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { HttpConnection } from "../http/HttpConnection.js"
import type { Sender } from "../http/Outgoing.js"
import * as Refusal from "../http/Refusal.js"
import type { HttpRefused } from "../HttpRefused.js"
import * as Http from "./Http.js"
import type { Fallback } from "./Post.js"
import * as Sse from "./Sse.js"

/**
 * SHOULD then try the older transport (2025-03-26 basic/transports#backwards-compatibility): at any 4xx. A server that asks
 * for authorization is of any age, and its older transport asks for the same.
 */
const mayBeOlder = ({ headers, status }: HttpRefused): boolean =>
  status >= 400 && status < 500 && !((status === 401 || status === 403) && headers["www-authenticate"] !== undefined)

export interface Choice {
  /** The current transport. It changes once, when the server implements only the older one. */
  readonly sender: Ref.Ref<Sender>
  /** Ends the session, if there is one. */
  readonly terminate: Effect.Effect<void, TransportError>
}

/** Takes the transport that the settings name. Fails when HTTP+SSE is wanted and cannot be opened. */
export const choose = (connection: HttpConnection): Effect.Effect<Choice, TransportError> =>
  Effect.gen(function*() {
    const { transport } = connection.settings
    if (transport === "sse") {
      return { sender: yield* Ref.make(yield* Sse.open(connection)), terminate: Effect.void }
    }
    const fallback: Fallback = (refused, request, text) =>
      mayBeOlder(refused)
        ? Effect.matchEffect(Sse.open(connection), {
          onFailure: (error) => Effect.fail(neither(refused, error)),
          onSuccess: (sse) => Effect.zipRight(Ref.set(sender, sse), sse.request(request, text))
        })
        : undefined
    const http = yield* Http.make(connection, transport === "auto" ? fallback : undefined)
    const sender = yield* Ref.make<Sender>(http)
    return { sender, terminate: http.terminate }
  })

const neither = (refused: HttpRefused, error: TransportError): TransportError =>
  new TransportError({
    reason: Refusal.toError(refused).reason,
    message: `${refused.message}. The server does not implement HTTP+SSE of 2024-11-05 either: ${error.message}` +
      (refused.status === 404 ? ". Look at the path of the URL: that of a server is often \"/mcp\"" : ""),
    cause: refused
  })
