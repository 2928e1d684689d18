import { assert, describe, it } from "@effect/vitest"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as TestClient from "@effect-mcp/testing/TestClient"
import { Effect, Stream } from "effect"
import { answered, failure, legacyClient } from "./Scripts.js"

const verbs: Readonly<
  Record<string, readonly [string, (client: ClientSessionService) => Effect.Effect<unknown, any>]>
> = {
  "tools/list": ["tools", (client) => client.listTools()],
  "tools/call": ["tools", (client) => client.callTool("t")],
  "resources/list": ["resources", (client) => Stream.runDrain(client.resources)],
  "resources/templates/list": ["resources", (client) => client.listResourceTemplates()],
  "resources/read": ["resources", (client) => client.readResource("a:b")],
  "resources/subscribe": ["resources.subscribe", (client) => client.subscribeResource("a:b")],
  "resources/unsubscribe": ["resources.subscribe", (client) => client.unsubscribeResource("a:b")],
  "prompts/list": ["prompts", (client) => client.listPrompts()],
  "prompts/get": ["prompts", (client) => client.getPrompt("p")],
  "completion/complete": [
    "completions",
    (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })
  ],
  "logging/setLevel": ["logging", (client) => client.setLoggingLevel("info")],
  "tasks/list": ["tasks.list", (client) => client.request("tasks/list")]
}

describe("A client MUST use only the capabilities that were declared:", () => {
  for (const [method, [capability, call]] of Object.entries(verbs)) {
    it.scoped(`"${method}" is not sent to a server without "${capability}"`, () =>
      Effect.gen(function*() {
        // The parent of a capability does not declare it.
        const [parent, child] = capability.split(".")
        const { client, server } = yield* legacyClient({
          capabilities: child === undefined ? {} : { [parent!]: {} }
        })
        const error = yield* failure(call(client))
        assert.deepInclude({ ...error }, { _tag: "NotNegotiated", method, capability, declaredBy: "server" })
        assert.include(
          error.message,
          `"${method}" was not sent: the server has not declared the capability "${capability}"; ` +
            "if the server has the method nevertheless"
        )
        yield* server.expectSilence
      }))
  }

  it.scoped("a change of roots is not sent by a client that has not declared it", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ client: { features: ClientFeatures.roots(Effect.succeed([])) } })
      const error = yield* failure(client.rootsListChanged)
      assert.deepInclude({ ...error }, { capability: "roots.listChanged", declaredBy: "client" })
      yield* server.expectSilence
    }))

  it.scoped("with `enforceCapabilities: false` it calls servers that forgot to declare what they have", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({ capabilities: {}, client: { enforceCapabilities: false } })
      yield* answered(server, client.listTools(), "tools/list", { tools: [] })
      yield* answered(server, client.subscribeResource("a:b"), "resources/subscribe", {})
      yield* answered(server, client.setLoggingLevel("info"), "logging/setLevel", {})
      yield* client.rootsListChanged
      yield* server.expectNotification("notifications/roots/list_changed")
    }))

  it.scoped("completion has no capability at 2024-11-05, and needs one from then on", () =>
    Effect.gen(function*() {
      const call = verbs["completion/complete"]![1]
      const old = yield* TestClient.make({ version: "2024-11-05", capabilities: {} })
      yield* answered(old.server, call(old.client), "completion/complete", { completion: { values: [] } })
      const newer = yield* TestClient.make({ version: "2025-03-26", capabilities: {} })
      assert.strictEqual((yield* failure(call(newer.client)))._tag, "NotNegotiated")
    }))

  it.scoped("a method that the revision does not have is not sent, whatever is declared", () =>
    Effect.gen(function*() {
      const { client, server } = yield* legacyClient({
        version: "2025-06-18",
        capabilities: { tasks: { list: {} } },
        client: { enforceCapabilities: false }
      })
      const error = yield* failure(client.request("tasks/list"))
      assert.deepInclude({ ...error }, { _tag: "NotNegotiated", capability: undefined })
      assert.strictEqual(
        error.message,
        "\"tasks/list\" was not sent: the revision 2025-06-18 does not have this method"
      )
      yield* answered(server, client.request("ours/do"), "ours/do", {})
    }))
})
