import { describe } from "@effect/vitest"
import type * as Connector from "@effect-mcp/core/Connector"
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Proxy from "@effect-mcp/proxy/Proxy"
import * as TestServer from "@effect-mcp/testing/TestServer"
import { Context, Effect, Layer, type Scope } from "effect"

export interface Way {
  /** Ends the name of a suite. */
  readonly name: string
  readonly isDirect: boolean
  /** The connector that a client uses for a server; `server` is the name that the server gives itself. */
  readonly to: (
    connector: Connector.Connector,
    server: string
  ) => Effect.Effect<Connector.Connector, never, Scope.Scope>
}

const direct: Way = { name: "", isDirect: true, to: (connector) => Effect.succeed(connector) }

/** The connector of a proxy of ours in front of a server. */
export const throughProxy = (
  upstream: Connector.Connector,
  name: string,
  options: McpServer.Options = {}
): Effect.Effect<Connector.Connector, never, Scope.Scope> =>
  Effect.gen(function*() {
    const server = yield* Layer.build(
      McpServer.layer({ name, version: "1.0.0" }, Proxy.layer(upstream, { name }), options)
    )
    // What the official servers send is not always what the schema allows.
    return yield* Effect.provideService(
      TestServer.connector({ oracle: false }),
      Dispatcher,
      Context.get(server, Dispatcher)
    )
  })

const proxied: Way = {
  name: ", through a proxy",
  isDirect: false,
  to: (upstream, name) => throughProxy(upstream, name, { versions: Version.legacy })
}

/** A suite that runs over each way to a server. */
export const suite = (title: string, tests: (way: Way) => void): void => {
  for (const way of [direct, proxied]) describe(title + way.name, () => tests(way))
}
