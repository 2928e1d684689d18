/**
 * A host whose servers have 3,000 tools: the model gets a search tool, and what it found. The model is a script. The host asks its user for
 * each tool by the tool's own name.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ToolList from "@effect-mcp/ai/ToolList"
import * as ToolSearch from "@effect-mcp/ai/ToolSearch"
import * as ClientSessionGroup from "@effect-mcp/core/ClientSessionGroup"
import * as InProcess from "@effect-mcp/core/InProcess"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as ToolResult from "@effect-mcp/core/ToolResult"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const things = ["invoice", "customer", "order", "parcel", "refund", "contract", "ticket", "meeting", "report", "device"]
const deeds = ["create", "list", "get", "update", "delete"]

/** A server of one department, with 50 tools. */
const department = (name: string) =>
  McpServer.layer(
    { name, version: "1.0.0" },
    Layer.mergeAll(
      Layer.empty,
      ...things.flatMap((thing) =>
        deeds.map((deed) => {
          const description = `Can ${deed} one ${thing} of ${name}.`
          const tool = RawTool.make(`${deed}_${thing}`, { description, inputSchema: { type: "object" } })
          return McpServer.tool(tool, () => Effect.succeed(ToolResult.text(`${deed}: done`)))
        })
      )
    )
  )

const departments = Array.from({ length: 60 }, (_, i) => `department${i + 1}`)

const main = Effect.gen(function*() {
  const group = yield* ClientSessionGroup.make({ prefix: "always" })
  for (const name of departments) {
    yield* group.connect(name, yield* Effect.provide(InProcess.connector, yield* Layer.build(department(name))))
  }
  const all = yield* ToolList.make(group, { maxTools: 10_000 })
  const search = yield* ToolSearch.make(all)
  yield* Console.log(`${all.tools.length} tools`)

  /** One turn of the model: what it writes, and what it reads. */
  const turn = (name: string, args: unknown) =>
    Effect.gen(function*() {
      const list = yield* search.list
      yield* Console.log(`The model has ${list.tools.map(({ name }) => name).join(", ")}`)
      if (name !== search.tool.name) yield* Console.log(`The user allows ${name}`)
      yield* Console.log((yield* list.call(name, args)).text)
    })
  yield* turn("search_tools", { query: "delete a parcel of department 42" })
  yield* turn("department42_delete_parcel", {})
}).pipe(Effect.scoped)

NodeRuntime.runMain(main)
