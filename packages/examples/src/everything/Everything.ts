/**
 * The server of everything, as a layer: all of its features, put together once. Over what it is reached is the business of
 * who provides it; `server.ts` listens, `tour.ts` looks around.
 */
import type * as Version from "@effect-mcp/protocol/Version"
import * as ClientLogger from "@effect-mcp/server/ClientLogger"
import * as McpServer from "@effect-mcp/server/McpServer"
import { Layer } from "effect"
import * as Asking from "./Asking.js"
import * as Content from "./Content.js"
import * as Prompts from "./Prompts.js"
import * as Resources from "./Resources.js"
import * as Work from "./Work.js"

const features = Layer.mergeAll(Content.layer, Work.layer, Asking.layer, Prompts.layer, Resources.layer)

export const layer = (version?: Version.LegacyVersion) =>
  McpServer.layer({ name: "everything", title: "Everything", version: "1.0.0" }, features, {
    instructions: "One of each: tools, resources and prompts that show what a server can do.",
    ...(version === undefined ? undefined : { versions: [version] })
  }).pipe(
    // What handlers log with `Effect.log` reaches the client that they work for.
    Layer.provide(ClientLogger.layer)
  )
