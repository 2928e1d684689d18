/**
 * Passes on the requests and notifications that extensions let clients send: parameters and results stay as they are. Only the
 * extensions that the proxy is given, to clients that have declared them.
 *
 * What servers send by extensions, and the results that extensions add to other methods, is not passed on.
 */
import type * as Extension from "@effect-mcp/protocol/Extension"
import { JsonObject } from "@effect-mcp/protocol/Json"
import type { McpError } from "@effect-mcp/protocol/McpError"
import * as Handler from "@effect-mcp/server/Handler"
import type { Registry } from "@effect-mcp/server/Registry"
import { RequestContext } from "@effect-mcp/server/RequestContext"
import type { ServerSessionService } from "@effect-mcp/server/ServerSession"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Forward } from "./Forward.js"

/** The object behind both services is the same. */
const session = RequestContext as unknown as Effect.Effect<ServerSessionService, never, RequestContext>

export const layer = (
  extensions: ReadonlyArray<Extension.Extension.Any>,
  forward: Forward,
  notify: (session: ServerSessionService, method: string, params: JsonObject) => Effect.Effect<void, McpError>
): Layer.Layer<never, never, Registry> => {
  const ofClients = <Part extends { readonly from: string }>(parts: Readonly<Record<string, Part>>) =>
    Object.values(parts).filter(({ from }) => from === "client")
  const requests = extensions.flatMap(({ requests }) => ofClients(requests as Record<string, Extension.Request>))
  const notifications = extensions.flatMap(({ notifications }) =>
    ofClients(notifications as Record<string, Extension.Notification>)
  )
  return Layer.mergeAll(
    Layer.empty,
    ...requests.map((one) =>
      Handler.request(
        { ...one, params: JsonObject, result: JsonObject } as Extension.Request<"client", JsonObject, JsonObject>,
        (params) => Effect.flatMap(session, (session) => forward(session, one.name, params))
      )
    ),
    ...notifications.map((one) =>
      Handler.notification(
        { ...one, params: JsonObject } as Extension.Notification<"client", JsonObject>,
        (params) => Effect.flatMap(session, (session) => Effect.ignore(notify(session, one.name, params)))
      )
    )
  ) as Layer.Layer<never, never, Registry>
}
