import * as Extension from "@effect-mcp/core/protocol/Extension"
import * as Schema from "effect/Schema"
import { describe, expect, expectTypeOf, it } from "vitest"
import * as ExtensionTable from "../../src/protocol/extension/ExtensionTable.js"

const Job = Schema.Struct({ id: Schema.String, at: Schema.Date })

const Jobs = Extension.make("com.example/jobs", {
  settings: { server: Schema.Struct({ max: Schema.NumberFromString }) },
  requests: {
    get: Extension.request("jobs/get", {
      params: Schema.Struct({ id: Schema.String }),
      result: Job,
      nameParameter: "id"
    }),
    ask: Extension.request("jobs/ask", { from: "server", params: Schema.Struct({}), result: Job })
  },
  notifications: {
    changed: Extension.notification("notifications/jobs/changed", {
      params: Job,
      filter: "jobIds",
      key: ({ id }) => id
    }),
    idle: Extension.notification("notifications/jobs/idle", { params: Schema.Struct({}), filter: "jobsIdle" }),
    seen: Extension.notification("notifications/jobs/seen", { from: "client", params: Job })
  },
  results: { job: Extension.resultType("job", { method: "tools/call", value: Job, since: "2026-07-28" }) }
})

const server = (...extensions: ReadonlyArray<Extension.Extension.Any>) => ExtensionTable.make(extensions, "server")

const given = Extension.declare(Jobs, { server: { max: 3 } })

describe("Extension", () => {
  it("MUST have an identifier with a prefix and a name", () => {
    for (const id of ["jobs", "com.example/", "/jobs", "com..example/jobs", "1com.example/jobs", ""]) {
      expect(() => Extension.make(id)).toThrow("does not identify an extension")
    }
    for (const id of ["com.example/jobs", "io.modelcontextprotocol/tasks", "a/b"]) {
      expect(Extension.make(id).id).toBe(id)
    }
  })

  it("binds its parts to itself and to its revisions, unless they have their own", () => {
    const later = Extension.make("com.example/later", {
      since: "2025-06-18",
      requests: {
        one: Extension.request("one", { params: Schema.Struct({}), result: Job }),
        two: Extension.request("two", { params: Schema.Struct({}), result: Job, since: "2026-07-28" })
      }
    })
    expect(later.requests.one).toMatchObject({ extension: "com.example/later", since: "2025-06-18", until: undefined })
    expect(later.requests.two).toMatchObject({ extension: "com.example/later", since: "2026-07-28" })
    expect(Jobs.requests.get).toMatchObject({ since: "2024-11-05", from: "client", declaredBy: "both" })
  })

  it("has requests from servers up to 2025-11-25 only, and types of results from 2026-07-28 on only", () => {
    expect(Jobs.requests.ask).toMatchObject({ from: "server", until: "2025-11-25" })
    const given = { from: "server", params: Schema.Struct({}), result: Job, until: undefined } as const
    const asks = Extension.make("com.example/asks", { requests: { ask: Extension.request("ask", given) } })
    expect(asks.requests.ask).toMatchObject({ until: "2025-11-25" })
    expect(Jobs.results.job).toMatchObject({ since: "2026-07-28" })
  })

  it("declares its settings as JSON, and refuses others", () => {
    expect(given.declared).toEqual({ client: {}, server: { max: "3" } })
    expect(() => Extension.declare(Jobs, { server: { max: "3" as never } })).toThrow()
  })

  it("has the types of its schemas", () => {
    expectTypeOf(Jobs.requests.get).toExtend<
      Extension.Request<"client", { readonly id: string }, { readonly id: string; readonly at: Date }>
    >()
    expectTypeOf(Jobs.requests.ask.from).toEqualTypeOf<"server">()
    expectTypeOf(Jobs.notifications.changed.subscribed).toEqualTypeOf<"keys">()
    expectTypeOf(Jobs.notifications.idle.subscribed).toEqualTypeOf<"flag">()
    expectTypeOf(Jobs.notifications.seen.subscribed).toEqualTypeOf<"none">()
    expectTypeOf(Jobs.results.job.method).toEqualTypeOf<"tools/call">()
    expectTypeOf<Extension.Extension.SettingsOf<typeof Jobs>>().toEqualTypeOf<
      Extension.Settings<{}, { readonly max: number }>
    >()
    // @ts-expect-error a parameter that the request does not have
    Extension.request("x", { params: Schema.Struct({}), result: Job, nameParameter: "id" })
    // @ts-expect-error the setting is a number
    expect(() => Extension.declare(Jobs, { server: { max: "three" } })).toThrow()
  })
})

describe("The table of extensions", () => {
  it("holds what they add, by name", () => {
    const table = server(given)
    expect([...table.methods.keys()]).toEqual([
      "jobs/get",
      "jobs/ask",
      "notifications/jobs/changed",
      "notifications/jobs/idle",
      "notifications/jobs/seen"
    ])
    expect([...table.nameParameters]).toEqual([["jobs/get", "id"]])
    expect([...table.filters.values()].map(({ hasKeys, name }) => [name, hasKeys])).toEqual([
      ["jobIds", true],
      ["jobsIdle", false]
    ])
    expect(table.resultTypes.get("tools/call")?.get("job")).toBe(given.results.job)
    expect(table.own.get("com.example/jobs")).toEqual({ max: 3 })
    expect(table.declared("2024-11-05")).toEqual({ "com.example/jobs": { max: "3" } })
    expect(ExtensionTable.make([], "client").declared("2026-07-28")).toBeUndefined()
  })

  it("declares an extension in its revisions only", () => {
    const until = ExtensionTable.make([{ ...Jobs, since: "2025-03-26", until: "2025-06-18" }], "client")
    expect(["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"].map((version) => until.declared(version as never)))
      .toEqual([undefined, { "com.example/jobs": {} }, { "com.example/jobs": {} }, undefined])
  })

  it("refuses what exists already, and settings that are missing", () => {
    const params = Schema.Struct({})
    const other = (parts: Parameters<typeof Extension.make>[1]) => Extension.make("com.example/other", parts)
    const filtering = (filter: string) =>
      other({ notifications: { one: Extension.notification("n", { params, filter, key: () => "" }) } })
    const result = (type: string) =>
      other({ results: { one: Extension.resultType(type, { method: "tools/call", value: params }) } })
    for (
      const [table, why] of [
        [() => server(given, given), `The extension "com.example/jobs" exists already`],
        [
          () => server(given, other({ requests: { get: Extension.request("jobs/get", { params, result: params }) } })),
          `The method "jobs/get"`
        ],
        [
          () => server(other({ requests: { x: Extension.request("tools/call", { params, result: params }) } })),
          `"tools/call"`
        ],
        [() => server(given, filtering("jobIds")), `The filter "jobIds"`],
        [() => server(filtering("toolsListChanged")), `The filter "toolsListChanged"`],
        [() => server(given, result("job")), `The type "job" of results of "tools/call"`],
        [() => server(result("complete")), `The type "complete"`],
        [() => server(Jobs), `The server needs settings for the extension "com.example/jobs"`]
      ] as const
    ) expect(table).toThrow(why)
  })
})
