/**
 * Nothing is built per message: V8's sampling heap profiler reports which functions allocate while a call is decoded
 * and its result is narrowed.
 */
import * as LegacyMethods from "@effect-mcp/core/protocol/legacy/Methods"
import * as ModernMethods from "@effect-mcp/core/protocol/modern/Methods"
import * as Stamp from "@effect-mcp/core/protocol/modern/Stamp"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { Session } from "node:inspector"
import { describe, expect, it } from "vitest"
import * as Projection from "../../src/protocol/schema/Projection.js"
import * as Canonical from "./Canonical.js"

interface Node {
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly selfSize: number
  readonly children: ReadonlyArray<Node>
}

const RUNS = 5000

/**
 * The functions that allocated at least a word in each run of `work`, garbage included. Smaller amounts come from the
 * engine, which compiles when it chooses to.
 */
const allocating = (work: () => unknown): ReadonlyArray<string> => {
  for (let i = 0; i < 4 * RUNS; i++) work()
  const session = new Session()
  const found = new Map<string, number>()
  const visit = ({ callFrame, children, selfSize }: Node): void => {
    const frame = `${callFrame.url}#${callFrame.functionName}`
    found.set(frame, (found.get(frame) ?? 0) + selfSize)
    children.forEach(visit)
  }
  session.connect()
  session.post("HeapProfiler.startSampling", {
    samplingInterval: 32,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true
  } as never)
  for (let i = 0; i < RUNS; i++) work()
  session.post("HeapProfiler.stopSampling", (_, { profile }) => visit(profile.head))
  session.disconnect()
  return [...found].flatMap(([frame, size]) => size >= 8 * RUNS ? [frame] : [])
}

const building =
  /effect\/(?:dist\/.*|src)\/(?:internal\/schema\/.*|Schema|SchemaAST|SchemaParser|Struct|ParseResult)\.[jt]s#/
const compiling =
  /\/(?:SchemaCheck|Projection|Since|Method)\.ts#(?:make|struct|union|array|field|member|discriminator|compile|compileAst|request)$/

const stamp = Stamp.make("tools/call", { serverInfo: { name: "test", version: "1" } })
const [legacyParams, legacyResult] = Canonical.legacy["tools/call"]!
const [modernParams] = Canonical.modern["tools/call"]!

const scenarios: Readonly<Record<string, () => unknown>> = {
  "a call at 2024-11-05": () => {
    Either.getOrThrow(LegacyMethods.callTool.decodeParams(legacyParams))
    return Projection.compile(LegacyMethods.callTool.result, "2024-11-05")(legacyResult as never)
  },
  "a call at 2025-11-25": () => {
    Either.getOrThrow(LegacyMethods.callTool.decodeParams(legacyParams))
    return Projection.compile(LegacyMethods.callTool.result, "2025-11-25")(legacyResult as never)
  },
  "a call at 2026-07-28": () => {
    Either.getOrThrow(ModernMethods.callTool.decodeParams(modernParams))
    return stamp(Projection.compile(ModernMethods.callTool.result, "2026-07-28")(legacyResult as never) as {})
  },
  "the result of a call, read": () => Either.getOrThrow(LegacyMethods.callTool.decodeResult(legacyResult))
}

describe("what is allocated per message", () => {
  for (const [name, run] of Object.entries(scenarios)) {
    it(`${name}: no schema, no syntax tree, no parser, no compiled check or projection`, () => {
      const found = allocating(run)
      expect(found.filter((frame) => building.test(frame) || compiling.test(frame))).toEqual([])
    })
  }

  it("a result that needs no change is the very same object", () => {
    const plain = { content: [{ type: "text", text: "hi" }] } as const
    for (const version of ["2024-11-05", "2025-11-25"] as const) {
      expect(Projection.compile(LegacyMethods.callTool.result, version)(plain)).toBe(plain)
    }
    expect(Projection.compile(ModernMethods.callTool.result, "2026-07-28")(plain)).toBe(plain)
  })

  it("detects a schema that is built", () => {
    expect(allocating(() => Schema.Struct({ a: Schema.String })).some((frame) => building.test(frame))).toBe(true)
  })
})
