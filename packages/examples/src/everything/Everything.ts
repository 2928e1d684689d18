/**
 * The everything server as a layer: one of each feature that a server can have.
 *
 * It knows no transport: `server.ts` serves it over HTTP, and `tour.ts` calls it.
 */
import * as ClientLogger from "@effect-mcp/core/ClientLogger"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as TasksServer from "@effect-mcp/core/TasksServer"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import * as Layer from "effect/Layer"
import * as Content from "./Content.js"
import * as LongRunning from "./LongRunning.js"
import * as Prompts from "./Prompts.js"
import * as Resources from "./Resources.js"
import * as Rounds from "./Rounds.js"
import * as ServerRequests from "./ServerRequests.js"
import * as SkillFiles from "./SkillFiles.js"
import * as Stateless from "./Stateless.js"
import * as TaskTools from "./Tasks.js"

const features = Layer.mergeAll(
  Content.layer,
  LongRunning.layer,
  ServerRequests.layer,
  Rounds.layer,
  Stateless.layer,
  Prompts.layer,
  Resources.layer,
  TaskTools.layer,
  SkillFiles.layer
)

export const layer = (version?: Version.Version) =>
  McpServer.layer({ name: "everything", title: "Everything", version: "1.0.0" }, features, {
    instructions: "One of each: tools, resources and prompts that show what a server can do.",
    extensions: [TasksServer.extension, SkillsServer.extension],
    ...(version === undefined ? undefined : { versions: [version] })
  }).pipe(
    // Sends what handlers log with `Effect.log` to their client.
    Layer.provide(ClientLogger.layer)
  )
