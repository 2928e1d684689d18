import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as FileUri from "../../../src/protocol/rules/FileUri.js"

describe("a safe URI", () => {
  it.each([
    ["file:///", []],
    ["file:///a", ["a"]],
    ["file:///a/b/", ["a", "b"]],
    ["file:/a/b", ["a", "b"]],
    ["FILE://localhost/a", ["a"]],
    ["file:///C:/x", ["C:", "x"]],
    ["file:///a%20b/%C3%A9", ["a b", "é"]],
    ["file:///%252e%252e/x", ["%2e%2e", "x"]],
    ["file:///...", ["..."]],
    ["file:///.hidden", [".hidden"]]
  ])("%s", (uri, names) => expect(Either.getOrThrow(FileUri.segments(uri))).toEqual(names))

  it.each([
    ["", "not a file"],
    ["a", "not a file"],
    ["http:///a", "not a file"],
    ["file:a", "not a file"],
    ["file://host/a", "not a file"],
    ["file://localhost", "not a file"],
    ["file:////host/a", "empty"],
    ["file:///a//b", "empty"],
    ["file:///..", "\"..\""],
    ["file:///a/../b", "\"..\""],
    ["file:///a/./b", "\"..\""],
    ["file:///a/%2e%2e/b", "\"..\""],
    ["file:///a/.%2E", "\"..\""],
    ["file:///a%2fb", "separator"],
    ["file:///a%2F..%2Fb", "separator"],
    ["file:///a\\b", "separator"],
    ["file:///a%5Cb", "separator"],
    ["file:///..%5c..%5cx", "separator"],
    ["file:///a%00.md", "control"],
    ["file:///a\u0000", "control"],
    ["file:///a%0a", "control"],
    ["file:///%zz", "percent"],
    ["file:///%ff%fe", "percent"],
    ["file:///%c0%ae%c0%ae/x", "percent"],
    ["file:///a?b", "query"],
    ["file:///a#b", "query"],
    [`file:///${"a/".repeat(40_000)}`, "too long"]
  ])("is not %j", (uri, why) => expect(Either.getOrThrow(Either.flip(FileUri.segments(uri)))).toContain(why))
})

describe("a root of a client", () => {
  it.each([
    ["file:///", undefined],
    ["file:///home/ada/notes", undefined],
    ["file:///C:/Users/ada%20b/", undefined],
    ["file://share.example/notes", undefined],
    ["FILE://localhost/a", undefined],
    ["https://example.com/", "it does not begin with file://"],
    ["file:/a", "it does not begin with file://"],
    ["/home/ada", "it does not begin with file://"],
    ["file:///home/../etc", "it contains \"..\" or \".\""],
    ["file://share.example/%2e%2e/etc", "it contains \"..\" or \".\""],
    ["file:///home%2fada", "a name contains a separator or a control character"]
  ])("MUST be a file URI that leads nowhere else: %s", (uri, problem) => {
    expect(FileUri.rootProblem(uri)).toBe(problem)
  })
})
