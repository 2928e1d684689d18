/**
 * A server on stdio with the skills of a directory, and with one whose content is generated. The directory is watched: a skill
 * that changes is read again, and clients are notified.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { fileURLToPath } from "node:url"

const library = process.argv[2] ?? fileURLToPath(new URL("../../src/skills/library", import.meta.url))

const Library = SkillsServer.layer(SkillsServer.fromDirectory(library), { reload: SkillsServer.watch(library) })

const Today = SkillsServer.layer(SkillsServer.make("today", {
  description: "The state of the shop now.",
  instructions: Effect.map(Clock.currentTimeMillis, (now) => `It is ${new Date(now).toISOString()}.`)
}))

const Server = McpServer.layer({ name: "shop", version: "1.0.0" }, Layer.merge(Library, Today), {
  instructions: "Before you refund an order, load the skill skill://refunds/SKILL.md.",
  extensions: [SkillsServer.extension]
})

StdioServer.layer.pipe(Layer.provide(Server), Layer.provide(NodeContext.layer), Layer.launch, StdioServer.runMain)
