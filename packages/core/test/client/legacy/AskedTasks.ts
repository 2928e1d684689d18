/** A client that answers samples and input as tasks, and the requests of a server about them. */
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { FeatureContext } from "@effect-mcp/core/FeatureContext"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import type { InternalError } from "@effect-mcp/core/protocol/McpError"
import type * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, Layer } from "effect"
import { legacyClient } from "../Scripts.js"

export const prompt = { messages: [{ role: "user", content: { type: "text", text: "hello" } }], maxTokens: 10 }
export const sampled = { role: "assistant", model: "m", content: { type: "text", text: "hi" } } as const
export const form = { message: "Name?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } }

export const Sampling = (answer: Effect.Effect<typeof sampled, InternalError, FeatureContext>) =>
  ClientFeatures.sampling(() => answer)
export const Form = ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: { name: "Ada" } }))
export const Page = ClientFeatures.urlElicitation(() => Effect.succeed("accept"))

export const client = (
  answer: Effect.Effect<typeof sampled, InternalError, FeatureContext>,
  tasks?: ClientFeatures.TaskOptions
) => legacyClient({ client: { features: Layer.mergeAll(Sampling(answer), Form, ClientFeatures.tasks(tasks)) } })

export const request = (peer: TestPeer.TestPeer, method: string, params: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectResult)

export const refused = (peer: TestPeer.TestPeer, method: string, params: JsonObject) =>
  Effect.flatMap(peer.request(method, params), peer.expectError)

export const start = (peer: TestPeer.TestPeer, task: JsonObject = {}, params: JsonObject = {}) =>
  Effect.map(request(peer, "sampling/createMessage", { ...prompt, ...params, task }), ({ task }) => task as JsonObject)

export const related = ({ taskId }: JsonObject) => ({ "io.modelcontextprotocol/related-task": { taskId } })

export const statusOf = (peer: TestPeer.TestPeer) =>
  Effect.map(peer.expectNotification("notifications/tasks/status"), ({ status }) => status)
