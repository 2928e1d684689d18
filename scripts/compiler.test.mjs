// What the compiler says about the mistakes of docs/compiler.md, and what an editor shows for public values: with the
// repository's options, and with those of a user who has set `strict` and nothing else.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, it } from "node:test"
import ts from "typescript"
import { root } from "./workspace.mjs"

const home = join(root, "packages/examples/build/compiler")

const user = {
  strict: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  customConditions: ["@effect-mcp/source"],
  skipLibCheck: true,
  noEmit: true,
  types: []
}

const repository = () => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.base.json"), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  return { ...options, composite: false, incremental: false, declarationMap: false, sourceMap: false, noEmit: true }
}

/** The code blocks of the page, as modules, each with the section and the message that follows it. */
const page = () => {
  const blocks = []
  let section = ""
  let block
  for (const line of readFileSync(join(root, "docs/compiler.md"), "utf8").split("\n")) {
    if (block === undefined && line.startsWith("#")) section = line.replace(/^#+ /, "")
    const fence = /^```(\w*)$/.exec(line)
    if (fence === null) block?.lines.push(line)
    else if (block === undefined) block = { language: fence[1], lines: [] }
    else {
      if (block.language === "ts") {
        const name = /^\/\/ file: (.*)$/.exec(block.lines[0])?.[1] ?? `block-${blocks.length}.ts`
        // Of the same length, so that the places are those of the page.
        blocks.push({ section, name, text: block.lines.join("\n").replace("@ts-expect-error", "@ts-mistake-below") })
      } else blocks.at(-1).message = block.lines.map((one) => one.trim()).join("\n")
      block = undefined
    }
  }
  return blocks
}

/** A host that finds these files in the folder of the examples, which depends on every package. */
const host = (options, files) => {
  const base = ts.createCompilerHost(options, true)
  return {
    ...base,
    fileExists: (path) => files.has(path) || base.fileExists(path),
    readFile: (path) => files.get(path) ?? base.readFile(path),
    directoryExists: (path) => home.startsWith(path) || base.directoryExists(path),
    getSourceFile: (path, ...rest) =>
      files.has(path) ? ts.createSourceFile(path, files.get(path), ...rest) : base.getSourceFile(path, ...rest)
  }
}

/** `…` stands for any text of one line. The page has the end of a message. */
const pattern = (message) => new RegExp(`${message.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")}$`)

const blocks = page()

for (const [name, options] of [["the repository's options", repository()], ["strict only", user]]) {
  describe(`The compiler, with ${name}`, () => {
    const files = new Map(blocks.map(({ name, text }) => [join(home, name), text]))
    const program = ts.createProgram({ rootNames: [...files.keys()], options, host: host(options, files) })
    for (const { message, name, section, text } of blocks) {
      const source = program.getSourceFile(join(home, name))
      it(message === undefined ? `accepts ${name}` : `says of "${section}" what the page says`, () => {
        const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
          .filter(({ code }) => code !== 6133)
          .map(({ messageText, start }) => ({
            line: source.getLineAndCharacterOfPosition(start).line,
            message: ts.flattenDiagnosticMessageText(messageText, "\n").split("\n").map((one) => one.trim()).join("\n")
          }))
        if (message === undefined) return assert.deepEqual(found, [])
        assert.equal(found.length, 1, JSON.stringify(found))
        assert.match(found[0].message, pattern(message))
        const mistake = text.split("\n").findIndex((line) => line.includes("@ts-mistake-below"))
        assert.equal(found[0].line, mistake + 1)
      })
    }
  })
}

const values = `
import * as Client from "@effect-mcp/core/Client"
import * as Definition from "@effect-mcp/core/Definition"
import * as McpServer from "@effect-mcp/core/McpServer"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Resource from "@effect-mcp/core/Resource"
import * as ResourceTemplate from "@effect-mcp/core/ResourceTemplate"
import * as ServerSession from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import { HttpServer, StdioServer } from "@effect-mcp/node"
import { TestServer } from "@effect-mcp/testing"
import { Context, Effect, Layer, Schema } from "effect"

class Db extends Context.Tag("Db")<Db, string>() {}
class Unknown extends Schema.TaggedError<Unknown>()("Unknown", { city: Schema.String }) {}

export const Forecast = Tool.make("forecast", {
  parameters: { city: Schema.String, days: Schema.optionalWith(Schema.Int, { default: () => 1 }) },
  success: Schema.Struct({ celsius: Schema.Array(Schema.Number) }),
  failure: Unknown
})
export const Ping = Tool.make("ping")
export const Readme = Resource.make("readme", { uri: "file:///README.md" })
export const Note = ResourceTemplate.make("note")\`note:///\${ResourceTemplate.param("id", Schema.NumberFromString)}\`
export const Review = Prompt.make("review", { arguments: { code: Schema.String } })
export const Weather = Definition.make(Forecast)
export const All = Definition.make(Forecast, Ping, Readme, Note, Review)
export const Both = Definition.merge(Definition.make(Ping), Definition.make(Readme))
declare const session: Client.Client["Type"]
export const weather = Client.of(session, Weather)
export const forecast = weather.forecast
export const ForecastLive = McpServer.tool(Forecast, () => Effect.as(Effect.zip(Db, ServerSession.ServerSession), { celsius: [1] }))
export const WeatherLive = McpServer.implement(Weather, { forecast: () => Effect.as(Db, { celsius: [1] }) })
export const Server = McpServer.layer({ name: "weather", version: "1.0.0" }, ForecastLive)
export const Main = Layer.mergeAll(StdioServer.layer, HttpServer.layer({ port: 1 })).pipe(Layer.provide(Server))
export const Test = TestServer.layer(Weather, ForecastLive)
`

const parameters = "{ readonly city: string; readonly days: number; }"
const args = "{ readonly city: string; readonly days?: number | undefined; }"
const Forecast = `Tool.Tool<"forecast", ${parameters}, ${args}, { readonly celsius: readonly number[]; }, Unknown>`
const call = `(args: ${args}, options?: CallOptions) => ` +
  "Effect.Effect<{ readonly celsius: readonly number[]; }, Unknown | ClientError | ToolError, never>"
const dispatcher = "ProvidedBy<\"McpServer.layer\">"

const hovers = {
  Forecast,
  Ping: "Tool.Tool<\"ping\", {}, {}, void, never>",
  Readme: "Resource.Resource<\"readme\">",
  Note: "ResourceTemplate.ResourceTemplate<\"note\", { readonly id: number; }>",
  Review: "Prompt.Prompt<\"review\", { readonly code: string; }, { readonly code: string; }>",
  Weather: `Definition.Definition.From<${Forecast}>`,
  All:
    `Definition.Definition.From<${Forecast} | Tool.Tool<"ping", {}, {}, void, never> | Resource.Resource<"readme"> | ` +
    "ResourceTemplate.ResourceTemplate<\"note\", { readonly id: number; }> | " +
    "Prompt.Prompt<\"review\", { readonly code: string; }, { readonly code: string; }>>",
  Both: "Definition.Definition.From<Tool.Tool<\"ping\", {}, {}, void, never> | Resource.Resource<\"readme\">>",
  weather: `{ readonly forecast: ${call}; }`,
  forecast: call,
  ForecastLive: "Feature<Db>",
  WeatherLive: "Feature<Db>",
  Server: `Layer.Layer<${dispatcher} | Running, never, Db>`,
  Main: "Layer.Layer<HttpServer.HttpServer, TransportError | HttpServer.ServeError, Db>",
  Test: `Layer.Layer<Client.Client | ${dispatcher} | Running, ConnectError, Db>`
}

/** The compiler orders the members of a union by when it met them first. */
const ordered = (type) =>
  type.replaceAll(/[\w.]+(?:<"[^"]*">)?( \| [\w.]+(?:<"[^"]*">)?)+/g, (union) => union.split(" | ").sort().join(" | "))

describe("An editor", () => {
  const file = join(home, "hovers.ts")
  const files = new Map([[file, values]])
  const service = ts.createLanguageService({
    ...host(user, files),
    getCompilationSettings: () => user,
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const text = files.get(path) ?? ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => dirname(home)
  })
  for (const [name, expected] of Object.entries(hovers)) {
    it(`shows the whole type of ${name}`, () => {
      const info = service.getQuickInfoAtPosition(file, values.indexOf(`const ${name} =`) + "const ".length)
      const shown = ts.displayPartsToString(info.displayParts).replaceAll(/\s+/g, " ")
      assert.equal(ordered(shown), ordered(`const ${name}: ${expected}`))
    })
  }
})
