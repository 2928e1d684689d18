/**
 * Resources: text, bytes, one that changes, and a template with a typed parameter.
 *
 * The server keeps the subscriptions; the handlers only say that a resource has changed.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as Tool from "@effect-mcp/core/Tool"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { png } from "./Samples.js"

const staticText = "This is the content of the static text resource."

const StaticText = Resource.make("static-text", {
  uri: "test://static-text",
  title: "Static text",
  description: "Text that does not change.",
  size: staticText.length,
  mimeType: "text/plain"
})
const StaticBinary = Resource.make("static-binary", {
  uri: "test://static-binary",
  title: "Static picture",
  description: "Bytes that do not change.",
  mimeType: "image/png"
})
const Watched = Resource.make("watched-resource", {
  uri: "test://watched-resource",
  title: "Watched resource",
  description: "Text that the tool `test_update_resource` changes.",
  mimeType: "text/plain"
})
const Update = Tool.make("test_update_resource", {
  description: "Changes the watched resource, and notifies its subscribers."
})

const id = ResourceTemplate.param("id")
const Data = ResourceTemplate.make("template-data", {
  description: "Data by id.",
  mimeType: "application/json"
})`test://template/${id}/data`

// A resource and the tool that changes it share one `Ref`.
const watched = Layer.unwrapEffect(Effect.map(Ref.make(0), (version) =>
  Layer.merge(
    McpServer.resource(Watched, Effect.map(Ref.get(version), (n) => `This resource has changed ${n} times.`)),
    McpServer.tool(Update, () =>
      Ref.updateAndGet(version, (n) => n + 1).pipe(
        Effect.tap(McpServer.resourceUpdated(Watched.uri)),
        Effect.map((n) => `Changed ${n} times`)
      ))
  )))

export const layer = Layer.mergeAll(
  McpServer.resource(StaticText, Effect.succeed(staticText)),
  McpServer.resource(StaticBinary, Effect.orDie(Encoding.decodeBase64(png))),
  watched,
  McpServer.resourceTemplate(
    Data,
    ({ id }) => Effect.succeed(JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })),
    { complete: { id: (value) => Effect.succeed(["123", "124", "200"].filter((one) => one.startsWith(value))) } }
  )
)
