import { assert, describe, it } from "@effect/vitest"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Tool from "@effect-mcp/core/Tool"
import { Effect } from "effect"
import { program } from "../src/host.js"

const Greet = Tool.make("greet")
const Greeter = McpServer.layer(
  { name: "greeter", version: "1.0.0" },
  McpServer.tool(Greet, () => Effect.succeed("Hello"))
)

describe("The host", () => {
  it.effect("knows the tools of its servers", () =>
    Effect.gen(function*() {
      const tools = yield* program
      assert.deepStrictEqual(tools, ["greet"])
    }).pipe(Effect.provide(
      ClientSessionGroup.layer({}, (group) => group.connect("greeter", InProcess.fromLayer(Greeter)))
    )))
})
