/**
 * Servers with skills, and clients of both eras that send the requests of the extension.
 */
import * as McpServer from "@effect-mcp/core/McpServer"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import * as SkillsServer from "@effect-mcp/extensions/SkillsServer"
import * as TestPeer from "@effect-mcp/testing/TestPeer"
import { Effect, type Layer } from "effect"

export const versions = ["2025-11-25", "2026-07-28"] as const

export const withSkills = <E, R>(features: Layer.Layer<never, E, R>, options: { readonly pageSize?: number } = {}) =>
  McpServer.layer({ name: "test", version: "0.0.0" }, features, {
    ...options,
    extensions: [SkillsServer.extension],
    cache: { ttl: "1 second", scope: "public" }
  })

/** A client of a revision: its results are without what every result of the revision has. */
export const clientOf = (version: (typeof versions)[number]) =>
  Effect.gen(function*() {
    const isLegacy = version === "2025-11-25"
    const peer = yield* TestPeer.client(isLegacy ? { oracle: true } : {})
    if (isLegacy) yield* peer.initialize({ version })
    const { request: send } = isLegacy ? peer : peer.modern()
    return {
      peer,
      result: (method: string, params?: JsonObject) =>
        Effect.map(
          Effect.flatMap(send(method, params), peer.expectResult),
          ({ _meta: _, resultType: __, ...result }): any => result
        ),
      error: (method: string, params?: JsonObject) => Effect.flatMap(send(method, params), peer.expectError)
    }
  })

export const hex = async (text: string): Promise<string> =>
  `sha256:${Buffer.from(await crypto.subtle.digest("SHA-256", Buffer.from(text))).toString("hex")}`

export const markdown = (name: string, description = `Does ${name}`, body = "Read on.") =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`
