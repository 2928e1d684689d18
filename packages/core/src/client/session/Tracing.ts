/**
 * What records the calls and sessions of a client, as `Client` finds it in the context of the client: `ClientTelemetry.layer` provides it.
 * Without that layer nothing is recorded, and none of its code is loaded.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Connector } from "../../jsonrpc/Connector.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { Table } from "../../protocol/telemetry/Telemetry.js"

/** What records the calls to one server. */
export interface ClientTracing {
  /** Records how long the session lasted, when the scope closes. */
  readonly session: Effect.Effect<void, never, Scope.Scope>
  /**
   * The same `Outbound`, with a span around every request and notification. `version` gives the agreed revision; `methods` are the methods
   * of the era: spans and metrics may contain their names.
   */
  readonly traced: (
    outbound: Outbound,
    version: () => string,
    methods: Table,
    extensions: ExtensionTable
  ) => Outbound
}

export class Tracing extends Context.Tag("@effect-mcp/core/client/Tracing")<
  Tracing,
  (server: Pick<Connector, "name" | "origin">) => ClientTracing
>() {}
