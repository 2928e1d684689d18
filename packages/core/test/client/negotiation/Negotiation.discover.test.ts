import { assert, describe, it } from "@effect/vitest"
import type { Diagnostic } from "@effect-mcp/core/Diagnostic"
import { HttpResponseError } from "@effect-mcp/core/HttpResponseError"
import { JsonRpcError } from "@effect-mcp/core/JsonRpcError"
import { ConnectionClosed, RequestTimeout, TransportError } from "@effect-mcp/core/LocalError"
import type { CallError, RequestOptions } from "@effect-mcp/core/Outbound"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { Effect } from "effect"
import * as Probe from "../../../src/client/negotiation/Probe.js"

/** Sends the request to a server that answers with this outcome. */
const discover = (outcome: Effect.Effect<JsonObject, CallError>) =>
  Effect.gen(function*() {
    const diagnostics: Array<Diagnostic> = []
    const sent: Array<readonly [string, RequestOptions | undefined]> = []
    const outbound = {
      notify: () => Effect.void,
      request: (method: string, _: unknown, options?: RequestOptions) => {
        sent.push([method, options])
        return outcome
      }
    }
    const verdict = yield* Probe.discover(outbound, "2026-07-28", {
      timeout: "5 seconds",
      cancelOnAbandon: false
    }, (one) =>
      Effect.sync(() => {
        diagnostics.push(one)
      }))
    return { diagnostics, sent, verdict }
  })

const described = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} }

const refusal = (status: number, headers: Record<string, string> = {}) =>
  new TransportError({
    reason: "Write",
    message: `answered with ${status}`,
    cause: new HttpResponseError({ method: "POST", url: "http://server.test", status, headers, body: "" })
  })

describe("server/discover of a client", () => {
  it.effect("MUST NOT be cancelled, because a legacy server may not know it", () =>
    Effect.gen(function*() {
      const { sent } = yield* discover(Effect.succeed(described))
      assert.deepStrictEqual(sent, [["server/discover", { timeout: "5 seconds", cancelOnAbandon: false }]])
    }))

  it.effect("gives what a modern server says of itself", () =>
    Effect.gen(function*() {
      const { verdict } = yield* discover(Effect.succeed({
        ...described,
        capabilities: { tools: { listChanged: true } },
        instructions: "Ask",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } }
      }))
      assert.deepStrictEqual<unknown>(verdict, {
        _tag: "Modern",
        facts: {
          version: "2026-07-28",
          serverInfo: { name: "s", version: "1" },
          serverCapabilities: { tools: { listChanged: true } },
          instructions: "Ask"
        }
      })
    }))

  it.effect("needs no name of the server", () =>
    Effect.gen(function*() {
      const { verdict } = yield* discover(Effect.succeed(described))
      assert.deepStrictEqual(verdict._tag === "Modern" ? verdict.facts.serverInfo : verdict, {
        name: "unknown",
        version: "unknown"
      })
    }))

  it.effect("reports what it mended in the answer", () =>
    Effect.gen(function*() {
      const { diagnostics, verdict } = yield* discover(Effect.succeed({
        ...described,
        instructions: null,
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "s" } }
      }))
      assert.strictEqual(verdict._tag, "Modern")
      assert.lengthOf(diagnostics, 1)
      assert.deepInclude(diagnostics[0], {
        _tag: "Mended",
        method: "server/discover",
        count: 1,
        places: [{
          path: "_meta.io.modelcontextprotocol/serverInfo.version",
          message: "is missing; the client reads it as \"\""
        }]
      })
    }))

  for (
    const [what, outcome, tag] of [
      [
        "names only other revisions",
        Effect.succeed({ ...described, supportedVersions: ["2099-01-01"] }),
        "OtherVersions"
      ],
      ["is an answer that describes no server", Effect.succeed({ tools: [] }), "Legacy"],
      ["is silence", Effect.fail(new RequestTimeout({ method: "server/discover", millis: 5000 })), "Inconclusive"],
      ["is not a response", Effect.fail(new TransportError({ reason: "Decode", message: "" })), "Legacy"],
      ["is an unknown method", Effect.fail(new JsonRpcError({ code: -32601, message: "No" })), "Legacy"],
      [
        "is an unsupported revision",
        Effect.fail(
          new JsonRpcError({
            code: -32022,
            message: "No",
            data: { supported: ["2099-01-01"], requested: "2026-07-28" }
          })
        ),
        "OtherVersions"
      ],
      [
        "is an unsupported revision, without those that are supported",
        Effect.fail(new JsonRpcError({ code: -32022, message: "No" })),
        "Inconclusive"
      ],
      [
        "is an error that only modern servers send",
        Effect.fail(new JsonRpcError({ code: -32020, message: "" })),
        "Final"
      ],
      ["is the end of the connection", Effect.fail(new ConnectionClosed({})), "Gone"],
      [
        "is a server that cannot be reached",
        Effect.fail(new TransportError({ reason: "Write", message: "ECONNREFUSED" })),
        "Final"
      ],
      [
        "is a lost answer",
        Effect.fail(new TransportError({ reason: "Read", message: "ECONNRESET" })),
        "Inconclusive"
      ],
      ...[401, 403].map((status) =>
        [
          `is ${status} with a challenge`,
          Effect.fail(refusal(status, { "www-authenticate": "Bearer" })),
          "Final"
        ] as const
      ),
      ...[400, 404, 405, 406, 415, 422].map((status) =>
        [`is ${status}`, Effect.fail(refusal(status)), "Legacy"] as const
      ),
      ...[401, 403, 407, 408, 425, 429, 500, 502, 503, 504].map((status) =>
        [`is ${status}`, Effect.fail(refusal(status)), "Inconclusive"] as const
      )
    ] as ReadonlyArray<readonly [string, Effect.Effect<JsonObject, CallError>, Probe.Verdict["_tag"]]>
  ) {
    it.effect(`has the verdict "${tag}" when its outcome ${what}`, () =>
      Effect.gen(function*() {
        const { diagnostics, verdict } = yield* discover(outcome)
        assert.strictEqual(verdict._tag, tag)
        assert.deepStrictEqual(diagnostics, [])
      }))
  }
})
