/**
 * What the caller of `Transport.send` wants around the sending of its message, such as the span of a notification. `ClientTelemetry`
 * provides it, and `Outgoing` reads it: the fiber that sends a message is not the fiber of the caller. The options of a request have their own
 * member for that, `around`.
 */
import * as Context from "effect/Context"
import type { SendOptions } from "../../jsonrpc/Transport.js"

export class Surrounding extends Context.Reference<Surrounding>()("@effect-mcp/core/client/http/Surrounding", {
  defaultValue: (): SendOptions["around"] => undefined
}) {}
