/**
 * Opens a transport over HTTP for both protocol eras, for `Remote`. The era of each request decides which module sends it: `modern/Http`
 * sends requests of revision 2026-07-28, and `legacy/Http` or `legacy/Sse` send requests of earlier revisions. The module that sent the
 * last request also sends notifications and responses, through `Outgoing`. This module is in the folder of `Negotiation` because it imports
 * both eras; the folder `http` has the modules that both eras share.
 *
 * A client that does not know which legacy transport a server implements first sends `initialize` over Streamable HTTP. When the server
 * refuses that request, the client tries HTTP+SSE of revision 2024-11-05.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#backwards-compatibility
 */
import { HttpClient } from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as JsonRpcError from "../../jsonrpc/JsonRpcError.js"
import { TransportError } from "../../jsonrpc/LocalError.js"
import * as Message from "../../jsonrpc/Message.js"
import type { Transport } from "../../jsonrpc/Transport.js"
import * as ExtensionTable from "../../protocol/extension/ExtensionTable.js"
import * as Version from "../../protocol/Version.js"
import * as EraEvidence from "../http/EraEvidence.js"
import * as HttpConnection from "../http/HttpConnection.js"
import { Outgoing, type Sender } from "../http/Outgoing.js"
import * as PlatformClient from "../http/PlatformClient.js"
import type { Reader } from "../http/Reader.js"
import * as RefusedResponse from "../http/RefusedResponse.js"
import type { Settings } from "../http/Settings.js"
import type { HttpResponseError } from "../HttpResponseError.js"
import * as Http from "../legacy/Http.js"
import type { Fallback } from "../legacy/Post.js"
import * as Sse from "../legacy/Sse.js"
import { ModernHttp } from "../modern/Http.js"
import type { HttpExchanges, ToolHeaders } from "../modern/ToolHeaders.js"
import { GivenExtensions } from "./GivenExtensions.js"

/**
 * Opens the transport. When the scope closes, closing waits for messages in flight and then ends the session. Each of the two steps takes a
 * limited time.
 */
export const open = (
  url: URL,
  settings: Settings
): Effect.Effect<
  Transport,
  TransportError,
  HttpClient | Scope.Scope
> =>
  PlatformClient.configure(Effect.gen(function*() {
    const connection = yield* HttpConnection.make(url, settings, yield* HttpClient)
    const { sender, terminate } = yield* legacy(connection)
    yield* Effect.addFinalizer(() => connection.finish(terminate))
    const { incoming, run } = connection.reader
    const toolHeaders: ToolHeaders = new Map()
    const modern = settings.transport === "sse"
      ? withoutModern(connection.reader)
      : new ModernHttp(connection, ExtensionTable.nameParameters(yield* GivenExtensions), toolHeaders)
    let isModern = false
    const { send, unsafeSend } = new Outgoing(connection, (message) => {
      if (Message.isRequest(message)) isModern = Version.eraOfMessage(message) === "modern"
      return isModern ? Effect.succeed(modern) : Ref.get(sender)
    })
    const exchanges: HttpExchanges = {
      isResumed: settings.session !== undefined,
      canLogIn: settings.authorizer !== undefined || settings.authorize !== undefined,
      credentials: connection.credentials,
      onConversation: connection.authorizing.onConversation,
      toolHeaders
    }
    return {
      incoming,
      run,
      exchanges,
      send,
      unsafeSend
    }
  }))

/** Answers each modern request with an error, without sending it, because HTTP+SSE has only legacy revisions. */
const withoutModern = ({ deliver }: Reader): Sender => ({
  cancelsByClosing: true,
  canResume: false,
  request: ({ id, method }) =>
    deliver(Message.failure(id, {
      code: JsonRpcError.METHOD_NOT_FOUND,
      message: `"${method}" was not sent: HTTP+SSE has only legacy revisions`
    })),
  send: () => Effect.void
})

/**
 * Whether the server may implement only the older transport. The client SHOULD try the older transport after any status 4xx (2025-03-26
 * basic/transports#backwards-compatibility). When the server demands a login or a wait, its older transport would demand the same, so the
 * client does not try the older transport then.
 */
const mayBeOlder = (refused: HttpResponseError): boolean =>
  refused.status >= 400 && refused.status < 500 && !EraEvidence.asksForLogin(refused) &&
  refused.headers["retry-after"] === undefined

interface LegacyTransport {
  /** The current transport. It changes once, if the server implements only the older transport. */
  readonly sender: Ref.Ref<Sender>
  /** Ends the session, if there is one. */
  readonly terminate: Effect.Effect<void, TransportError>
}

/** Opens the transport that the settings name. Fails when HTTP+SSE is wanted and cannot be opened. */
const legacy = (connection: HttpConnection.HttpConnection): Effect.Effect<LegacyTransport, TransportError> =>
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

const neither = (refused: HttpResponseError, error: TransportError): TransportError =>
  new TransportError({
    reason: RefusedResponse.toError(refused).reason,
    message:
      `${refused.message}. The server does not implement HTTP+SSE of revision 2024-11-05 either: ${error.message}` +
      (refused.status === 404 ? ". Look at the path of the URL: the path of a server is often \"/mcp\"" : ""),
    cause: refused
  })
