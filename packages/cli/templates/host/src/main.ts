import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { program } from "./host.js"

const Servers = Layer.unwrapEffect(
  Effect.sync(() => ConfiguredServers.layer(JSON.parse(readFileSync("servers.json", "utf8"))))
)

program.pipe(Effect.provide(Servers), Effect.provide(FetchHttpClient.layer), NodeRuntime.runMain)
