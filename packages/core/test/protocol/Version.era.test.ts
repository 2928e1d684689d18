import * as Version from "@effect-mcp/core/protocol/Version"
import { describe, expect, it } from "vitest"

const KEY = Version.VERSION_KEY

describe("Version.eraOfMessage", () => {
  it.each<[what: string, method: string, params: unknown, header: string | undefined, era: Version.Era]>([
    ["a request of a legacy client", "tools/list", undefined, undefined, "legacy"],
    ["one with parameters", "tools/call", { name: "x" }, undefined, "legacy"],
    ["one with a progress token", "tools/call", { _meta: { progressToken: 1 } }, undefined, "legacy"],
    ["one with a legacy header", "tools/list", undefined, "2025-11-25", "legacy"],
    ["the handshake", "initialize", { protocolVersion: "2025-11-25" }, undefined, "legacy"],
    ["the handshake, whatever it carries", "initialize", { _meta: { [KEY]: "2026-07-28" } }, "2026-07-28", "legacy"],
    ["a request of a modern client", "tools/list", { _meta: { [KEY]: "2026-07-28" } }, "2026-07-28", "modern"],
    ["one over a pipe", "tools/list", { _meta: { [KEY]: "2026-07-28" } }, undefined, "modern"],
    ["one of a later revision", "tools/list", { _meta: { [KEY]: "2030-01-01" } }, undefined, "modern"],
    ["one that names a legacy revision so", "tools/list", { _meta: { [KEY]: "2025-11-25" } }, undefined, "modern"],
    ["one whose version is not a text", "tools/list", { _meta: { [KEY]: 5 } }, undefined, "modern"],
    ["one whose version is null", "tools/list", { _meta: { [KEY]: null } }, undefined, "modern"],
    ["one with nothing else", "ping", { _meta: { [KEY]: "2026-07-28" } }, undefined, "modern"],
    ["one whose header alone is modern", "tools/list", {}, "2026-07-28", "modern"],
    ["one whose header is later", "tools/list", undefined, "2030-01-01", "modern"],
    ["one whose header is not a date", "tools/list", undefined, "latest", "legacy"],
    ["one whose header is empty", "tools/list", undefined, "", "legacy"],
    ["one whose _meta is null", "tools/list", { _meta: null }, undefined, "legacy"],
    ["one whose _meta is a list", "tools/list", { _meta: [KEY] }, undefined, "legacy"],
    ["one whose _meta is a text", "tools/list", { _meta: KEY }, undefined, "legacy"],
    ["one that inherits the key", "tools/list", { _meta: Object.create({ [KEY]: "2026-07-28" }) }, undefined, "legacy"],
    ["the key in the wrong place", "tools/list", { [KEY]: "2026-07-28" }, undefined, "legacy"],
    ["discovery without its envelope", "server/discover", {}, undefined, "legacy"],
    ["a legacy notification", "notifications/initialized", undefined, undefined, "legacy"]
  ])("%s", (_, method, params, header, era) => {
    expect(Version.eraOfMessage({ method, params: params as {} | undefined }, header)).toBe(era)
  })
})

describe("Version.eraOf", () => {
  it("is known for every known revision", () => {
    expect(["2024-11-05", "2025-11-25", "2026-07-28", "2030-01-01"].map(Version.eraOf)).toEqual([
      "legacy",
      "legacy",
      "modern",
      undefined
    ])
  })
})
