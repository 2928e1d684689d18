import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import { Effect, Layer } from "effect"
import { program } from "./host.js"

const Servers = Layer.unwrapEffect(
  Effect.map(ConfiguredServers.read("servers.json"), (file) => ConfiguredServers.layerFiles([file]))
)

program.pipe(Effect.provide(Servers), Effect.provide(FetchHttpClient.layer), NodeRuntime.runMain)
