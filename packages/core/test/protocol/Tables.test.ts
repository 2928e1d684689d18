/**
 * Both tables against the unions of each official schema: which side may send what, in which revision,
 * and nothing else.
 */
import * as LegacyMethods from "@effect-mcp/core/protocol/legacy/Methods"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as InputRequired from "@effect-mcp/core/protocol/modern/InputRequired"
import * as ModernMethods from "@effect-mcp/core/protocol/modern/Methods"
import * as Version from "@effect-mcp/core/protocol/Version"
import { describe, expect, it } from "vitest"
import * as Official from "./Official.js"

const unions = [
  ["ClientRequest", "request", "client"],
  ["ServerRequest", "request", "server"],
  ["ClientNotification", "notification", "client"],
  ["ServerNotification", "notification", "server"]
] as const

const table = (version: Version.Version): ReadonlyMap<string, Method.Method> =>
  Version.isModern(version) ? ModernMethods.table : LegacyMethods.table

const ours = (version: Version.Version, kind: Method.Method["kind"], from: Method.Sender): ReadonlyArray<string> =>
  [...table(version).values()]
    .filter((method) => method.kind === kind && (method.from === from || method.from === "both"))
    .filter((method) => Method.isIn(method, version))
    .map(({ name }) => name)
    .sort()

describe("the tables of methods", () => {
  for (const version of Version.all) {
    for (const [union, kind, from] of unions) {
      it(`${version} has the ${union} of the official schema`, () => {
        const mine = ours(version, kind, from)
        const official = [...Official.methodsOf(version, union)].sort()
        const difference = {
          missing: official.filter((name) => !mine.includes(name)),
          unknown: mine.filter((name) => !official.includes(name))
        }
        if (difference.missing.length + difference.unknown.length > 0) console.log(version, union, difference)
        expect(difference).toEqual({ missing: [], unknown: [] })
      })
    }
  }

  it("agree on a method that both eras have", () => {
    for (const modern of ModernMethods.table.values()) {
      const legacy = LegacyMethods.table.get(modern.name)
      if (legacy === undefined) {
        expect(modern.since, modern.name).toBe("2026-07-28")
      } else {
        expect([modern.kind, modern.since, modern.capability], modern.name)
          .toEqual([legacy.kind, legacy.since, legacy.capability])
        expect([legacy.until, modern.until], modern.name).toEqual([undefined, undefined])
      }
    }
    for (const legacy of LegacyMethods.table.values()) {
      if (!ModernMethods.table.has(legacy.name)) expect(legacy.until, legacy.name).toBe("2025-11-25")
    }
  })

  it("a modern server sends no requests: its input requests are in no table", () => {
    for (const name of InputRequired.inputMethods.keys()) expect(ModernMethods.table.has(name)).toBe(false)
    expect([...InputRequired.inputMethods.keys()].sort()).toEqual(
      Official.definitions("2026-07-28").InputRequest!.anyOf instanceof Array
        ? (Official.definitions("2026-07-28").InputRequest!.anyOf as ReadonlyArray<{ readonly $ref: string }>)
          .map(({ $ref }) =>
            (Official.definitions("2026-07-28")[$ref.split("/").at(-1)!] as {
              readonly properties: { readonly method: { readonly const: string } }
            }).properties.method.const
          ).sort()
        : []
    )
  })

  it("a method exists only in its era and its revisions", () => {
    let cases = 0
    const names = new Set([
      ...LegacyMethods.table.keys(),
      ...ModernMethods.table.keys(),
      ...InputRequired.inputMethods.keys()
    ])
    for (const version of Version.all) {
      for (const name of [...names, "tools/unknown", "", "__proto__", "constructor", "rpc.discover"]) {
        const method = table(version).get(name)
        const known = method !== undefined && Method.isIn(method, version)
        const official = unions.some(([union]) => Official.methodsOf(version, union).includes(name))
        expect(known, `${name} ${version}`).toBe(official)
        cases++
      }
    }
    console.log(`${cases} cases of a method and a revision`)
  })

  it("gates each method by the capability that the specification names", () => {
    const gates = Object.fromEntries(
      [...LegacyMethods.table.values(), ...ModernMethods.table.values()].map((method) => [
        method.name,
        method.capability === undefined ? "" : `${method.declaredBy} ${method.capability}`
      ])
    )
    expect(gates).toEqual({
      "initialize": "",
      "ping": "",
      "server/discover": "",
      "tools/list": "receiver tools",
      "tools/call": "receiver tools",
      "resources/list": "receiver resources",
      "resources/templates/list": "receiver resources",
      "resources/read": "receiver resources",
      "resources/subscribe": "receiver resources.subscribe",
      "resources/unsubscribe": "receiver resources.subscribe",
      "prompts/list": "receiver prompts",
      "prompts/get": "receiver prompts",
      "completion/complete": "receiver completions",
      "logging/setLevel": "receiver logging",
      "sampling/createMessage": "receiver sampling",
      "roots/list": "receiver roots",
      "elicitation/create": "receiver elicitation",
      "tasks/get": "receiver tasks",
      "tasks/result": "receiver tasks",
      "tasks/list": "receiver tasks.list",
      "tasks/cancel": "receiver tasks.cancel",
      "subscriptions/listen": "",
      "notifications/initialized": "",
      "notifications/cancelled": "",
      "notifications/progress": "",
      "notifications/message": "sender logging",
      "notifications/tools/list_changed": "sender tools.listChanged",
      "notifications/resources/list_changed": "sender resources.listChanged",
      "notifications/resources/updated": "sender resources.subscribe",
      "notifications/prompts/list_changed": "sender prompts.listChanged",
      "notifications/roots/list_changed": "sender roots.listChanged",
      "notifications/elicitation/complete": "receiver elicitation.url",
      "notifications/tasks/status": "sender tasks",
      "notifications/subscriptions/acknowledged": ""
    })
    const gatedLater = [...LegacyMethods.table.values(), ...ModernMethods.table.values()].filter((
      { gatedSince, since }
    ) => gatedSince !== since)
    expect(gatedLater.map(({ gatedSince, name }) => [name, gatedSince])).toEqual([[
      "completion/complete",
      "2025-03-26"
    ]])
  })
})
